import Foundation
import HTTPTypes
import Synchronization
import WaystationHTTP
import WaystationStorage

/// A value of a shared tier: a response, or how the responses of its key vary.
///
/// Format (`Docs/FileFormats.md`): a header of 8 bytes, `WSR` and the version, and the length of the rest as a number of
/// 32 bits; then the sealed contents. All numbers are big-endian. The contents are
///
/// ```text
/// 1   kind: 1 for a response, 2 for names of fields
/// 48  the stamp under which the value was stored: the values of the three roots
/// kind 1:
/// 2   status
/// 8   time of the request, microseconds since 1970
/// 8   time of the response
/// 4   length of the fields
///     the fields, a field section
///     the body, to the end
/// kind 2:
///     the names, a line each
/// ```
enum SharedEntry: Sendable {
    case response(StoredHead, body: Data)
    /// The response of a request is at the place of its variant: these fields of the request select it.
    case variants(of: [HTTPField.Name])

    private static let magic = Data("WSR".utf8) + [UInt8(SharedKeys.version)]
    static let headerLength = 8

    /// The size of the largest value, with 1 MiB for the fields of its response.
    static func longest(forBodiesUpTo body: Int) -> Int { min(max(0, body), Int(Int32.max)) + (1 << 20) }

    /// The header and the sealed rest of a value; nil if the header does not belong to a value of this version, or the
    /// rest is not as long as it says.
    static func split(_ value: Data) -> (header: Data, sealed: Data)? {
        let (header, sealed) = (value.prefix(headerLength), value.dropFirst(headerLength))
        return header == self.header(for: sealed.count) ? (header, sealed) : nil
    }

    /// The header of a value whose sealed rest has this length.
    static func header(for length: Int) -> Data {
        var header = magic
        header.appendNumber(UInt32(truncatingIfNeeded: length))
        return header
    }

    /// The contents of the value, before they are sealed.
    func encoded(under stamp: Data) -> Data {
        switch self {
        case .response(let head, let body):
            let fields = FieldSection.encode(head.headerFields)
            var data = Data(capacity: 64 + fields.count + body.count)
            data.append(1)
            data.append(stamp)
            data.appendNumber(UInt16(head.status))
            data.appendNumber(UInt64(bitPattern: head.requestTime.microseconds))
            data.appendNumber(UInt64(bitPattern: head.responseTime.microseconds))
            data.appendNumber(UInt32(truncatingIfNeeded: fields.count))
            data.append(fields)
            data.append(body)
            return data
        case .variants(let names):
            return Data([2]) + stamp + Data(names.map(\.canonicalName).joined(separator: "\n").utf8)
        }
    }

    /// Reads the contents of a value.
    ///
    /// - Parameters:
    ///   - contents: The opened contents.
    ///   - request: The request that the value is for.
    /// - Returns: The value and its stamp; nil if the contents are not of this format.
    static func decode(_ contents: Data, for request: SharedRequest) -> (entry: SharedEntry, stamp: Data)? {
        contents.withUnsafeBytes { decode($0[...], for: request) }
    }

    private static func decode(
        _ contents: Slice<UnsafeRawBufferPointer>,
        for request: SharedRequest
    ) -> (entry: SharedEntry, stamp: Data)? {
        var rest = contents
        guard let kind = rest.popFirst(), let stamp = rest.take(SharedStamp.length).map({ Data($0) }) else {
            return nil
        }
        switch kind {
        case 1:
            guard let status: UInt16 = rest.takeNumber(), let sent: UInt64 = rest.takeNumber(),
                let received: UInt64 = rest.takeNumber(), let length: UInt32 = rest.takeNumber(),
                let section = rest.take(Int(length)),
                let fields = FieldSection.decode(UnsafeRawBufferPointer(rebasing: section))
            else { return nil }
            let head = StoredHead(
                key: request.key,
                status: Int(status),
                headerFields: fields,
                vary: VaryKey(fields, request: request.fields),
                requestTime: Date(microseconds: Int64(bitPattern: sent)),
                responseTime: Date(microseconds: Int64(bitPattern: received)),
                contentLength: rest.count
            )
            return (.response(head, body: Data(rest)), stamp)
        case 2:
            let names = rest.split(separator: UInt8(ascii: "\n")).map {
                HTTPField.Name(String(decoding: $0, as: UTF8.self))
            }
            guard !names.isEmpty, !names.contains(nil) else { return nil }
            return (.variants(of: names.compactMap(\.self)), stamp)
        default: return nil
        }
    }
}

/// The values of the three roots under which an entry was stored; it may be used only while all have these values.
struct SharedStamp: Hashable, Sendable {
    static let rootLength = 16
    static let length = 3 * rootLength

    let bytes: Data

    /// Makes the stamp of the roots; nil if one of them has not the form of a root.
    init?(_ all: Data, _ origin: Data, _ url: Data) {
        guard [all, origin, url].allSatisfy({ $0.count == Self.rootLength }) else { return nil }
        bytes = all + origin + url
    }
}

extension Data {
    fileprivate mutating func appendNumber<Number: FixedWidthInteger>(_ number: Number) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Removes and returns the first bytes; nil if there are fewer.
    fileprivate mutating func take(_ count: Int) -> Self? {
        guard count <= self.count else { return nil }
        defer { self = dropFirst(count) }
        return prefix(count)
    }

    fileprivate mutating func takeNumber<Number: FixedWidthInteger & BitwiseCopyable>() -> Number? {
        take(MemoryLayout<Number>.size).map {
            Number(bigEndian: UnsafeRawBufferPointer(rebasing: $0).loadUnaligned(as: Number.self))
        }
    }
}

/// The names of a fleet's values in a shared tier, and the keys that seal them.
///
/// All of them are derived from the fleet's secret, so that a name reveals neither a URL nor a login, and a value can
/// be read and made only with the secret.
struct SharedKeys: Sendable {
    /// The version of names and values; programs with different versions do not see each other's.
    static let version = 2

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

    /// The value whose change invalidates all entries of an origin.
    func root(ofOrigin origin: String) -> TierKey { name("root", "origin", origin) }

    /// The roots of all entries, of the origin of a key's URL, and of that URL.
    ///
    /// The root does not depend on a fragment: an invalidation of the URL is one of all its keys.
    func roots(of url: String) -> [TierKey] {
        [root, root(ofOrigin: CanonicalURL(url)?.origin ?? url), root(of: String(url.prefix { $0 != "#" }))]
    }

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

/// An invalidation that reaches all machines.
enum SharedScope: Hashable, Sendable {
    case all
    case url(String)
    case prefix(String)
    case host(String)
    case origin(String)
    /// The responses with any of these labels.
    case labels([ResponseLabel], PurgeKind)

    /// Invalidates the responses of a machine's own store, in all partitions.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - completion: Called on the store's write queue with the number of responses that were removed.
    func invalidate(
        in store: ResponseStore,
        completion: @escaping @Sendable (Result<Int, StoreError>) -> Void = { _ in }
    ) {
        switch self {
        case .all: store.invalidate(.all, completion: completion)
        case .url(let url): store.invalidate(.url(url), completion: completion)
        case .prefix(let prefix): store.invalidate(.prefix(prefix), completion: completion)
        case .host(let host): store.invalidate(.host(host), completion: completion)
        case .origin(let origin): store.invalidate(.origin(origin), completion: completion)
        case .labels(let labels, let kind): store.purge(labels, as: kind) { completion($0.map { 0 }) }
        }
    }

    /// The origin of all the responses; nil if they may be of several.
    var origin: String? {
        switch self {
        case .all, .url, .prefix, .host: return nil
        case .origin(let origin): return origin
        case .labels(let labels, _):
            let origins = Set(labels.map { if case .group(_, let origin) = $0 { origin } else { "" } })
            return origins.count == 1 ? origins.first.flatMap { $0.isEmpty ? nil : $0 } : nil
        }
    }

    var encoded: Data {
        let (kind, text): (UInt8, String) =
            switch self {
            case .all: (0, "")
            case .url(let url): (1, url)
            case .prefix(let prefix): (2, prefix)
            case .host(let host): (3, host)
            case .origin(let origin): (4, origin)
            case .labels(let labels, .hard): (5, Self.text(of: labels))
            case .labels(let labels, .soft): (6, Self.text(of: labels))
            }
        return Data([kind]) + Data(text.utf8)
    }

    /// - Returns: nil when the bytes are not those of a scope.
    init?(encoded: Data) {
        let text = String(decoding: encoded.dropFirst(), as: UTF8.self)
        switch encoded.first {
        case 0: self = .all
        case 1: self = .url(text)
        case 2: self = .prefix(text)
        case 3: self = .host(text)
        case 4: self = .origin(text)
        case 5: self = .labels(Self.labels(in: text), .hard)
        case 6: self = .labels(Self.labels(in: text), .soft)
        default: return nil
        }
    }

    /// A line for each label: its origin, which a tag does not have, a space, and its name.
    ///
    /// A name with other characters than printable ASCII, such as a line feed, belongs to no response, and is left out.
    private static func text(of labels: [ResponseLabel]) -> String {
        labels.filter { StructuredStrings.isString($0.name) }.map { label in
            switch label {
            case .tag(let name): " \(name)"
            case .group(let name, let origin): "\(origin) \(name)"
            }
        }.joined(separator: "\n")
    }

    private static func labels(in text: String) -> [ResponseLabel] {
        text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, case let (origin, name) = (parts[0], parts[1]) else { return nil }
            return origin.isEmpty ? .tag(name) : .group(name, origin: origin)
        }
    }
}

/// The right to store the response to a request in the shared tier, as of the look-up that missed it.
///
/// A claim with a lease is what other machines wait for: the lease ends with the claim.
final class SharedClaim: Sendable {
    let request: SharedRequest
    let entry: TierKey
    let stamp: SharedStamp
    private let lease: Mutex<Data?>
    private let owner: SharedResponses

    init(_ request: SharedRequest, _ entry: TierKey, _ stamp: SharedStamp, lease: Data?, of owner: SharedResponses) {
        self.request = request
        self.entry = entry
        self.stamp = stamp
        self.lease = Mutex(lease)
        self.owner = owner
    }

    deinit { end() }

    /// Ends the lease, if the claim still has one.
    func end() {
        if let lease = lease.withLock({ $0.take() }) { owner.endLease(lease, of: entry) }
    }
}

/// A request as a shared tier sees it.
struct SharedRequest: Sendable {
    /// The key under which the response is stored on this machine.
    let key: RequestKey
    /// The request's fields, of which `Vary` may nominate some.
    let fields: HTTPFields

    /// The request's cookies; requests with different cookies never share a response.
    var cookies: String { fields[.cookie] ?? "" }

    /// Whether other machines may wait for the response: that to a request for a range is usually a part, which is not
    /// shared, and a request may forbid to store its response.
    var takesLease: Bool { !fields.contains(.range) && !RequestCacheControl(fields).noStore }

    /// Whether the request says who sends it, so that its response may be meant for one user.
    var isPersonal: Bool { !key.partition.isEmpty || fields.contains(.cookie) || fields.contains(.authorization) }
}
