package import Foundation
package import WaystationPacks
import WaystationStorage

/// The calls that publishing needs of an object store, for the objects below one prefix.
///
/// Keys are relative to the prefix.
package protocol ObjectBucket: Sendable {
    /// The address, such as `s3://releases/shop`.
    var url: URL { get }

    /// Reads a whole object of at most `limit` bytes; nil if the object does not exist.
    func read(_ key: String, limit: Int) async throws(PackError) -> StoredObject?

    /// Reads a whole object into a new file; false if the object does not exist.
    func download(_ key: String, into file: URL, limit: Int) async throws(PackError) -> Bool

    /// Stores an object if a condition is fulfilled; the store checks it and stores the object in one step.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - key: The key.
    ///   - delivery: The fields with which the store sends the object.
    ///   - condition: The condition; nil stores the object in any case.
    /// - Returns: Whether the object was stored.
    /// - Throws: ``WaystationPacks/PackError``; whether the object was stored is not known then.
    func write(
        _ data: Data,
        to key: String,
        as delivery: ObjectDelivery,
        if condition: WriteCondition?
    ) async throws(PackError) -> WriteOutcome

    /// The objects whose keys begin with a text.
    func list(_ prefix: String) async throws(PackError) -> ObjectListing

    /// Removes an object; does nothing if the object does not exist.
    func remove(_ key: String) async throws(PackError)
}

/// An object with the version that a condition can name.
package struct StoredObject: Sendable, Hashable {
    package let data: Data
    /// The entity tag, as the store sent it.
    package let version: String

    package init(data: Data, version: String) {
        self.data = data
        self.version = version
    }
}

/// The objects that a store lists.
package struct ObjectListing: Sendable, Hashable {
    package let objects: [ListedObject]
    /// The time at which the listing began, by the clock that gives objects their times; nil if the store names none.
    package let began: Date?

    package init(_ objects: [ListedObject], began: Date?) {
        self.objects = objects
        self.began = began
    }
}

/// An object in a listing.
package struct ListedObject: Sendable, Hashable {
    package let key: String
    /// The time at which it was stored.
    package let modified: Date

    package init(key: String, modified: Date) {
        self.key = key
        self.modified = modified
    }
}

/// The condition for storing an object.
package enum WriteCondition: Sendable, Hashable {
    /// There is no object with this key.
    case absent
    /// The object is still this version.
    case matches(version: String)
}

/// The result of storing an object under a condition.
package enum WriteOutcome: Sendable, Hashable {
    case stored
    /// The condition was not fulfilled.
    case lost
}

/// The fields with which a store sends an object.
package enum ObjectDelivery: Sendable, Hashable {
    /// A JSON document; caches validate their copy before each use.
    case changing
    /// A pack that never changes.
    case zip
    /// A patch that never changes.
    case patch
}

/// The keys of a release directory in a bucket; see ``ReleaseDirectory``.
enum BucketLayout {
    static let index = "releases.json"
    static let catalogue = "catalogue.json"
    static let packs = "packs/"
    static let catalogues = "catalogues/"

    /// The place of a signed catalogue before and while it is put in place.
    static func staged(_ catalogue: PackDigest) -> String { "\(catalogues)\(catalogue.hex).json" }

    /// Whether a key has the form of those that publishers give to packs, patches and staged catalogues.
    ///
    /// A bucket may have other objects, which are not the publisher's.
    static func isMadeByPublishers(_ key: String) -> Bool {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if key.hasPrefix(catalogues) {
            let digest = PackDigest(String(key.dropFirst(catalogues.count).dropLast(5)))
            return digest?.algorithm == .sha256 && digest.map(staged) == key
        }
        guard key.hasPrefix(packs), parts.count > 4, let module = ModuleID(parts[1]),
            let version = PackVersion(parts[2]), RandomName.isPossible(parts[3])
        else { return false }
        let paths = ReleasePaths(module: module, version: version, attempt: parts[3])
        let patches = PatchOffer.Kind.allCases.compactMap { kind -> String? in
            // The version in front may have hyphens of its own.
            let end = "-\(kind.rawValue).patch"
            guard let name = parts.last, name.hasSuffix(end) else { return nil }
            return PackVersion(String(name.dropLast(end.count))).map { paths.patch(kind, from: $0) }
        }
        return ([paths.archive] + patches).contains { "\(paths.folder)/\($0)" == key }
    }
}
