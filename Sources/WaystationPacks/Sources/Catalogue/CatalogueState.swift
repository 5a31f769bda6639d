/// What a client remembers of the last catalogue that it accepted, so that nobody can lead it back.
///
/// Keep it with the installed packs, one for each catalogue, and store it before anything that the catalogue says is done.
public struct CatalogueState: Sendable, Hashable, Codable {
    /// The serial number of that catalogue.
    public var serial: UInt64
    /// The SHA-256 of its payload.
    public var digest: PackDigest

    /// A state.
    public init(serial: UInt64, digest: PackDigest) {
        self.serial = serial
        self.digest = digest
    }
}
