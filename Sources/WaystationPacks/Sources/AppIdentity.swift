/// The app that asks for updates.
public struct AppIdentity: Sendable, Hashable {
    /// The app's name on the server.
    public var code: String
    /// The app's version.
    public var version: PackVersion
    /// The platform that the app runs on; `linux` by default.
    public var platform: String

    /// Makes an identity.
    public init(code: String, version: PackVersion, platform: String = "linux") {
        self.code = code
        self.version = version
        self.platform = platform
    }
}
