/// The app that asks.
public struct AppIdentity: Sendable, Hashable {
    /// The name by which the server knows it.
    public var code: String
    /// Its version.
    public var version: PackVersion
    /// What it runs on; `linux` by default.
    public var platform: String

    /// An app.
    public init(code: String, version: PackVersion, platform: String = "linux") {
        self.code = code
        self.version = version
        self.platform = platform
    }
}
