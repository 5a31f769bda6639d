import Foundation

/// The record beside a partial file, with which a later attempt can resume the download.
///
/// One JSON object in the file `<key>.json`, replaced by rename:
///
/// ```json
/// {"version": 1, "url": "https://cdn.example/cart.zip", "digest": "sha256-…", "total": 81920, "synchronized": 40960,
///  "validators": {"entityTag": "\"v7\""}}
/// ```
struct DownloadRecord: Codable, Hashable, Sendable {
    static let currentVersion = 1

    var version = Self.currentVersion
    /// The artifact's URL and digest; a partial file with another URL or digest is not resumed.
    var url: URL
    var digest: PackDigest?
    /// Bytes in total, as the server announced them; nil when it did not.
    var total: Int?
    /// How many bytes of the partial file are known to be synchronised to the disk; nil while an attempt runs.
    var synchronized: Int?
    var validators: Validators

    /// Whether a partial file of `length` bytes may be resumed.
    ///
    /// With a digest, it may: the digest is checked at the end. Without one, there must be a validator, and all bytes
    /// must be known to be synchronised to the disk: a crash may have lost what was written after that.
    func allowsResuming(_ artifact: Artifact, from length: Int) -> Bool {
        guard version == Self.currentVersion, url == artifact.url, digest == artifact.digest, length > 0 else {
            return false
        }
        if let expected = artifact.size ?? total, length > expected { return false }
        return artifact.digest != nil || (validators.condition != nil && synchronized == length)
    }
}
