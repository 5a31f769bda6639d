import Dispatch
import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationHTTP
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("The invalidations of other machines")
struct SharedSequenceTests {
    @Test("have no last number if its file is too large")
    func largeFile() throws {
        let folder = try TemporaryDirectory()
        let file = SequenceFile(in: folder.url)
        file.write(.max)
        #expect(file.read() == .max)
        try SparseFile.make(at: folder.url.appending(path: "shared.sequence"))
        #expect(file.read() == nil)
    }

    @Test("count as carried out only when all before them were carried out", arguments: [true, false])
    func failure(isOwn: Bool) async throws {
        let folder = try TemporaryDirectory()
        let clock = ManualClock()
        func store(on disk: any FileSystem = LocalFileSystem()) -> ResponseStore {
            var environment = StoreEnvironment.patient
            environment.fileSystem = disk
            return ResponseStore(directory: folder.url, environment: environment, now: clock.now)
        }
        let key = RequestKey(method: "GET", url: "https://shop.example/a")
        let (sent, received) = (clock.now(), clock.now())
        let head = StoredHead(key: key, status: 200, headerFields: [:], requestTime: sent, responseTime: received)
        try await store().begin(head)?.commit()

        let isBroken = Mutex(true)
        let restarted = store(
            on: FaultyFileSystem { operation, path in
                guard operation == .createDirectory, isBroken.withLock(\.self) else { return }
                throw FileError("createDirectory", path, code: EIO)
            }
        )
        let file = SequenceFile(in: folder.url)
        file.write(8)
        let sequence = SharedSequence(file)
        #expect(sequence.begin(after: 8, restarted) { _ in } == .complete)
        sequence.receive(9, .other(.url(key.url)), restarted) { _ in }
        await restarted.flush()
        #expect(file.read() == 8)

        isBroken.withLock { $0 = false }
        clock.advance(by: 31)
        #expect(await restarted.lookup(key).isEmpty)
        await restarted.flush()
        sequence.receive(10, isOwn ? .own : .other(.url("https://shop.example/b")), restarted) { _ in }
        await restarted.flush()
        #expect(file.read() == 10)
        #expect(await restarted.lookup(key).isEmpty)
        #expect(await store().lookup(key).isEmpty)
    }

    /// A store whose disk calls `before` when the log of the index is written to the storage medium.
    private func store(
        in folder: TemporaryDirectory,
        opening: DispatchSemaphore? = nil,
        before: @escaping @Sendable () throws -> Void
    ) -> ResponseStore {
        var environment = StoreEnvironment.patient
        environment.fileSystem = FaultyFileSystem { operation, path in
            if operation == .createDirectory, let opening {
                opening.wait()
                opening.signal()
            }
            if operation == .synchronize, path.hasSuffix("index.sqlite-wal") { try before() }
        }
        return ResponseStore(directory: folder.url, environment: environment)
    }

    @Test("count as carried out only when a power cut no longer undoes them")
    func powerCut() async throws {
        let folder = try TemporaryDirectory()
        let isFailing = Mutex(true)
        let store = store(in: folder) {
            if isFailing.withLock(\.self) { throw FileError("synchronize", "index.sqlite-wal", code: EIO) }
        }
        let file = SequenceFile(in: folder.url)
        file.write(8)
        let sequence = SharedSequence(file)
        #expect(sequence.begin(after: 8, store) { _ in } == .complete)
        sequence.receive(9, .other(.url("https://shop.example/a")), store) { _ in }
        await store.flush()
        #expect(file.read() == 8)
        isFailing.withLock { $0 = false }
        sequence.receive(10, .own, store) { _ in }
        await store.flush()
        #expect(file.read() == 10)
    }

    @Test("that arrive faster than they are carried out wait together for the storage medium")
    func synchronizedTogether() async throws {
        let folder = try TemporaryDirectory()
        let opening = DispatchSemaphore(value: 0)
        let count = Mutex(0)
        let store = store(in: folder, opening: opening) { count.withLock { $0 += 1 } }
        let file = SequenceFile(in: folder.url)
        file.write(8)
        let sequence = SharedSequence(file)
        #expect(sequence.begin(after: 8, store) { _ in } == .complete)
        for number in 9...58 as ClosedRange<UInt64> {
            sequence.receive(number, .other(.url("https://shop.example/\(number)")), store) { _ in }
        }
        opening.signal()
        await store.flush()
        #expect(file.read() == 58)
        #expect(count.withLock(\.self) == 1)
    }

    @Test("have their effect although a message that is not this fleet's has taken their number", arguments: [9, .max])
    func forgedNumber(forged: UInt64) async throws {
        let folder = try TemporaryDirectory()
        let clock = ManualClock()
        let store = ResponseStore(directory: folder.url, environment: .patient, now: clock.now)
        let key = RequestKey(method: "GET", url: "https://shop.example/a")
        let (sent, received) = (clock.now(), clock.now())
        let head = StoredHead(key: key, status: 200, headerFields: [:], requestTime: sent, responseTime: received)
        try await store.begin(head)?.commit()
        let file = SequenceFile(in: folder.url)
        file.write(8)
        let sequence = SharedSequence(file)
        let events = Mutex<[TierEvent.Kind]>([])
        let report: @Sendable (TierEvent) -> Void = { event in events.withLock { $0.append(event.kind) } }
        #expect(sequence.begin(after: 8, store, report) == .complete)
        sequence.receive(forged, .foreign, store, report)
        #expect(events.withLock(\.self) == [.damaged])
        sequence.receive(9, .other(.url(key.url)), store, report)
        await store.flush()
        #expect(await store.lookup(key).isEmpty)
        #expect(file.read() == 9)
    }
}
