/// The state after the last accepted catalogue, which keeps an attacker from going back to an older one.
///
/// Store one state for each catalogue with the installed packs, before acting on anything in the catalogue.
public struct CatalogueState: Sendable, Hashable, Codable {
    /// The serial number of that catalogue.
    public var serial: UInt64
    /// The SHA-256 of its payload.
    public var digest: PackDigest

    /// Makes a state.
    public init(serial: UInt64, digest: PackDigest) {
        self.serial = serial
        self.digest = digest
    }
}
