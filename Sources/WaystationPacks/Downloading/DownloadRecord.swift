import Foundation

/// What is written beside a partial file, so that a later attempt can go on with it.
///
/// One JSON object, `<key>.json`, replaced by rename:
///
/// ```json
/// {"version": 1, "url": "https://cdn.example/cart.zip", "digest": "sha256-…", "total": 81920, "synchronized": 40960,
///  "validators": {"entityTag": "\"v7\""}}
/// ```
struct DownloadRecord: Codable, Hashable, Sendable {
    static let currentVersion = 1

    var version = Self.currentVersion
    /// The artifact's URL and digest: a file under another key does not belong here.
    var url: URL
    var digest: PackDigest?
    /// Bytes in all, as the server announced them; nil when it did not.
    var total: Int?
    /// So many bytes of the partial file are known to be on the medium; nil while an attempt runs.
    var synchronized: Int?
    var validators: Validators

    /// Whether the partial file may be continued that has `length` bytes.
    ///
    /// With a digest to check at the end it may be tried. Without one there must be a validator, and nothing may have
    /// stopped the machine between the last write and the moment when the bytes were known to be on the medium.
    func allowsResuming(_ artifact: Artifact, from length: Int) -> Bool {
        guard version == Self.currentVersion, url == artifact.url, digest == artifact.digest, length > 0 else {
            return false
        }
        if let expected = artifact.size ?? total, length > expected { return false }
        return artifact.digest != nil || (validators.condition != nil && synchronized == length)
    }
}
