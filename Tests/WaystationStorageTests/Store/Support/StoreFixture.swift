import Foundation
import HTTPTypes
import Synchronization
import WaystationHTTP
import WaystationTestSupport

@testable import WaystationStorage

/// A directory for stores, a driven clock, and a record of the stores' events; removed with the fixture.
final class StoreFixture: Sendable {
    let directory: URL
    let clock = DrivenClock()
    let events = EventLog()

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "waystation-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    var layout: StoreLayout { StoreLayout(root: directory.path(percentEncoded: false).trimmingSuffix("/")) }

    func store(
        limits: StoreLimits = StoreLimits(),
        fileSystem: any FileSystem = LocalFileSystem(),
        adjust: (inout StoreEnvironment) -> Void = { _ in }
    ) -> ResponseStore {
        var environment = StoreEnvironment.patient
        environment.fileSystem = fileSystem
        adjust(&environment)
        let (clock, events) = (clock, events)
        return ResponseStore(
            directory: directory,
            limits: limits,
            environment: environment,
            now: { clock.now },
            events: { events.append($0) }
        )
    }

    /// Changes the index as another program would.
    func execute(_ sql: String) throws {
        try Database(path: layout.index, busyTimeout: 10).execute(sql)
    }

    /// Holds the index as the write of another process does, until `ROLLBACK` is executed on the result.
    func holdIndex() throws -> Connection {
        let holder = try Connection(Database(path: layout.index, busyTimeout: 10))
        try holder.use { try $0.execute("BEGIN IMMEDIATE") }
        return holder
    }

    /// The files below a directory of the store, as paths relative to it.
    func files(in name: String) -> [String] {
        let root = directory.appending(path: name).path(percentEncoded: false)
        let walk = FileManager.default.enumerator(atPath: root)
        return (walk?.compactMap { $0 as? String } ?? []).filter { path in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: root + "/" + path, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }
    }
}

/// A clock that moves only when a test advances it.
final class DrivenClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

    var now: Date { time.withLock { $0 } }

    func advance(_ duration: Duration) { time.withLock { $0 += duration.inSeconds } }
}

/// The events that stores reported, in order.
final class EventLog: Sendable {
    private let entries = Mutex<[StoreEvent]>([])

    func append(_ event: StoreEvent) { entries.withLock { $0.append(event) } }

    var all: [StoreEvent] { entries.withLock { $0 } }

    func of(_ kind: StoreEvent.Kind) -> [StoreEvent] { all.filter { $0.kind == kind } }
}

extension RequestKey {
    static func get(_ path: String, partition: String = "") -> RequestKey {
        RequestKey(method: "GET", url: "https://shop.example/\(path)", partition: partition)
    }
}

extension ResponseStore {
    func write(
        _ key: RequestKey,
        _ body: Data,
        fields: HTTPFields = [.contentType: "text/plain"],
        vary: VaryKey = .none,
        expecting length: Int? = nil
    ) -> ResponseWriter? {
        let writer = begin(
            StoredHead(
                key: key,
                status: 200,
                headerFields: fields,
                vary: vary,
                requestTime: now(),
                responseTime: now(),
                contentLength: length
            )
        )
        writer?.append(body)
        return writer
    }

    @discardableResult
    func store(_ key: RequestKey, _ body: Data, vary: VaryKey = .none) async throws -> Int64 {
        guard let writer = write(key, body, vary: vary) else { throw StoreError(.unavailable, "no writer") }
        return try await writer.commit()
    }

    func bodies(_ key: RequestKey) async throws -> [Data] {
        try await lookup(key).map { try $0.body.contents() }
    }
}

extension ResidentResponses {
    /// Keeps responses as the result of a reading that nothing interrupts.
    func keep(_ responses: [StoredResponse], for key: RequestKey, readAt time: Date) {
        keep(responses, for: key, readAt: time, by: beginReading(key))
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}

extension ResponseStore {
    /// Returns when the write queue has finished its work; gathered writes stay gathered.
    func settle() async {
        await withCheckedContinuation { continuation in
            writeQueue.async { continuation.resume() }
        }
    }

    /// Returns when the watch queue has finished its work, which does not wait for the disk.
    func settleWatch() async {
        await withCheckedContinuation { continuation in
            watchQueue.async { continuation.resume() }
        }
    }

    /// Returns when the earlier look-ups, and the work that follows from them, are done.
    func settleLookUps() async {
        await withCheckedContinuation { continuation in
            readQueue.async { self.watchQueue.async { continuation.resume() } }
        }
    }
}
