#if NIO
public import Waystation

extension Interceptor.Carrier {
    /// The engine on SwiftNIO, with its default options.
    public static let nio = nio(NIOTransport.Options())

    /// The engine on SwiftNIO.
    ///
    /// - Parameter options: Settings that a session configuration lacks.
    public static func nio(_ options: NIOTransport.Options) -> Interceptor.Carrier {
        Interceptor.Carrier { NIOTransport(configuration: $0, options: options) }
    }
}
#endif
