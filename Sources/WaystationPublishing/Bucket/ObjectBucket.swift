package import Foundation
package import WaystationPacks

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
