#if NIO
public import Waystation

extension Interceptor.Carrier {
    /// The engine on SwiftNIO, with its default options.
    public static let nio = nio(NIOOptions())

    /// The engine on SwiftNIO, with options that a session configuration lacks.
    public static func nio(_ options: NIOOptions) -> Interceptor.Carrier {
        Interceptor.Carrier { NIOTransport(configuration: $0, options: options) }
    }
}
#endif
