import Foundation
import HTTPTypes
import WaystationCaching
import WaystationCryptography
import WaystationFields
import WaystationSharing

/// The names of a fleet's values in a shared tier, and the keys that seal them.
///
/// All of them are derived from the fleet's secret, so that a name reveals neither a URL nor a login, and a value can
/// be read and made only with the secret.
struct SharedKeys: Sendable {
    /// The version of names and values; programs with different versions do not see each other's.
    static let version = 1

    private static let prefix = "waystation:\(version):"

    /// The number of bytes by which a sealed value is longer: nonce and tag.
    static let sealLength = Sealing.overhead

    /// The value whose change invalidates all entries.
    let root: TierKey
    // The authentication codes have taken their keys already, which costs more than a short name does.
    private let naming: AuthenticationCode
    private let sealing: AuthenticationCode

    init(secret: Data) {
        let code = { (purpose: String) in
            let purpose = Array("waystation shared tier \(Self.version) \(purpose)".utf8)
            return AuthenticationCode(key: AuthenticationCode.derivedKey(from: secret, for: purpose))
        }
        naming = code("names")
        sealing = code("values")
        root = Self.name(["root"], by: naming)
    }

    /// The value whose change invalidates all entries of a URL.
    func root(of url: String) -> TierKey { name("root", url) }

    /// The place of the response to a request.
    func entry(_ request: SharedRequest) -> TierKey {
        name("entry", request.key.method, request.key.url, request.key.partition, request.cookies)
    }

    /// The place of a variant among the responses of a key.
    func variant(_ vary: VaryKey, of entry: TierKey) -> TierKey {
        // A field that the request does not have differs from an empty one.
        let parts = vary.nominees.flatMap { [$0.name.canonicalName, $0.value.map { "=" + $0 } ?? ""] }
        return name(["variant", entry.name] + parts)
    }

    /// The lease of the machine that asks the origin for an entry.
    func lease(of entry: TierKey) -> TierKey { name("lease", entry.name) }

    /// The channel of invalidations.
    var invalidations: TierKey { name("invalidations") }

    /// The channel that reports that a response was stored, or that a lease has ended.
    var arrivals: TierKey { name("arrivals") }

    /// Seals a value for a place; it cannot be opened for another place.
    func seal(_ value: Data, for place: TierKey, header: Data) -> Data? {
        Sealing.seal(value, key: sealingKey(of: place), context: header + Data(place.name.utf8))
    }

    /// Opens the value of a place; nil if it was not sealed for this place with this secret.
    func open(_ sealed: Data, for place: TierKey, header: Data) -> Data? {
        Sealing.open(sealed, key: sealingKey(of: place), context: header + Data(place.name.utf8))
    }

    /// Each place has a key of its own: a key may seal only 2^32 values, since their nonces are random.
    private func sealingKey(of place: TierKey) -> [UInt8] {
        var code = sealing
        code.update(Array(place.name.utf8))
        return code.bytes
    }

    private func name(_ parts: String...) -> TierKey { name(parts) }

    private func name(_ parts: [String]) -> TierKey { Self.name(parts, by: naming) }

    private static func name(_ parts: [String], by naming: AuthenticationCode) -> TierKey {
        var bytes: [UInt8] = []
        for part in parts {
            // The length comes first, so that no two lists of parts are the same bytes.
            withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) { bytes += $0 }
            bytes += part.utf8
        }
        var code = naming
        code.update(bytes)
        return TierKey(prefix + code.bytes.prefix(16).hexadecimal)
    }
}
