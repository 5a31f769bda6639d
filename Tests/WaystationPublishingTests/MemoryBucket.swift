import Foundation
import Synchronization
import WaystationPacks

@testable import WaystationPublishing

/// A bucket in memory, in which tests see each call before it is made, and after.
final class MemoryBucket: ObjectBucket {
    enum Call: Hashable, Sendable {
        case read(String)
        case write(String)
        case list(String)
        case remove(String)
    }

    /// Whether a call that fails takes effect all the same.
    enum Moment: CaseIterable { case before, after }

    private struct State {
        var objects: [String: (data: Data, version: Int, modified: Date)] = [:]
        var lastVersion = 0
    }
    private let state = Mutex(State())
    private let clock: @Sendable () -> Date
    private let watch: @Sendable (Call, Moment) async throws(PackError) -> Void
    private let shared: MemoryBucket?
    /// Whether a write that fails is sent once more, as an `S3Bucket` does when a reply is lost.
    private let resendsWrites: Bool

    /// Makes an empty bucket; `watch` is called before and after each call, and throws to make the call fail.
    init(
        now: @escaping @Sendable () -> Date = { Publisher.start },
        watch: @escaping @Sendable (Call, Moment) async throws(PackError) -> Void = { _, _ throws(PackError) in }
    ) {
        clock = now
        self.watch = watch
        shared = nil
        resendsWrites = false
    }

    /// The same objects, seen by another publisher.
    init(
        _ bucket: MemoryBucket,
        resendingWrites resendsWrites: Bool = false,
        watch: @escaping @Sendable (Call, Moment) async throws(PackError) -> Void
    ) {
        clock = bucket.clock
        self.watch = watch
        shared = bucket.shared ?? bucket
        self.resendsWrites = resendsWrites
    }

    var url: URL { URL(filePath: "/memory") }
    var keys: [String] { withState { $0.objects.keys.sorted() } }

    subscript(key: String) -> Data? {
        get { withState { $0.objects[key]?.data } }
    }

    private func withState<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        guard let shared else { return state.withLock { body(&$0) } }
        return shared.withState(body)
    }

    private func perform<Value: Sendable>(
        _ call: Call,
        _ body: (inout State) -> Value
    ) async throws(PackError) -> Value {
        try await watch(call, .before)
        let value = withState(body)
        try await watch(call, .after)
        return value
    }

    func read(_ key: String, limit: Int) async throws(PackError) -> StoredObject? {
        try await perform(.read(key)) { state in
            state.objects[key].map { StoredObject(data: $0.data, version: "\"\($0.version)\"") }
        }
    }

    func download(_ key: String, into file: URL, limit: Int) async throws(PackError) -> Bool {
        guard let object = try await read(key, limit: limit) else { return false }
        return (try? object.data.write(to: file)) != nil
    }

    func write(
        _ data: Data,
        to key: String,
        as delivery: ObjectDelivery,
        if condition: WriteCondition?
    ) async throws(PackError) -> WriteOutcome {
        do throws(PackError) {
            return try await store(data, at: key, if: condition)
        } catch {
            guard resendsWrites else { throw error }
            return try await store(data, at: key, if: condition)
        }
    }

    private func store(
        _ data: Data,
        at key: String,
        if condition: WriteCondition?
    ) async throws(PackError) -> WriteOutcome {
        let now = clock()
        return try await perform(.write(key)) { state in
            let present = state.objects[key]
            switch condition {
            case .absent? where present != nil: return .lost
            case .matches(let version)? where present.map({ "\"\($0.version)\"" }) != version: return .lost
            default: break
            }
            state.lastVersion += 1
            state.objects[key] = (data, state.lastVersion, now)
            return .stored
        }
    }

    func list(_ prefix: String) async throws(PackError) -> ObjectListing {
        let now = clock()
        return try await perform(.list(prefix)) { state in
            let found = state.objects.filter { $0.key.hasPrefix(prefix) }
                .map { ListedObject(key: $0.key, modified: $0.value.modified) }
            return ObjectListing(found, began: now)
        }
    }

    func remove(_ key: String) async throws(PackError) {
        try await perform(.remove(key)) { $0.objects[key] = nil }
    }
}
