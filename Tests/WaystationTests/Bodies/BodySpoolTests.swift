import Foundation
import FoundationNetworking
import Glibc
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("A body spool")
struct BodySpoolTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func spool(before: @escaping @Sendable (FaultyFileSystem.Operation, String) throws -> Void) -> BodySpool {
        var spool = BodySpool(memory: .bytes(10), directory: folder.url)
        spool.fileSystem = FaultyFileSystem(before: before)
        return spool
    }

    private func load(_ spool: BodySpool, _ origin: ScriptedOrigin, count: Int) async throws -> Data {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.bodySpool = spool
        }
        var request = URLRequest(url: origin.url("/a"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data(repeating: 7, count: count))
        return try await URLSession(configuration: .ephemeral.intercepted(by: interceptor)).data(for: request).0
    }

    @Test("makes no file in a directory that is not a file URL")
    func remoteDirectory() throws {
        let remote = try #require(URL(string: "https://bodies.example\(folder.url.path)"))
        var writer = SpoolWriter(BodySpool(memory: .bytes(0), directory: remote))
        let error = #expect(throws: FileError.self) { try writer.append(Data(count: 1)) }
        #expect(error?.description.contains("\(remote): it is not a file URL") == true)
    }

    @Test("fails the load when the disk is full, leaves no file and sends nothing", arguments: [0, 1, 2, 5])
    func full(writes: Int) async throws {
        let origin = try ScriptedOrigin { .ok($0.body) }
        let count = Counter()
        let spool = spool { operation, path in
            if operation == .write, count.next() > writes { throw FileError("write", path, code: ENOSPC) }
        }
        let error = await #expect(throws: URLError.self) { try await load(spool, origin, count: 1 << 20) }
        #expect(error?.code == .cannotCreateFile)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? FileError)?.code == ENOSPC)
        #expect(origin.connectionCount == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test("fails the load when its file cannot be read back, and the server gets no partial body")
    func unreadable() async throws {
        let origin = try ScriptedOrigin { .ok($0.body) }
        let count = Counter()
        let spool = spool { operation, path in
            if operation == .read, count.next() > 3 { throw FileError("read", path, code: EIO) }
        }
        await #expect(throws: URLError.self) { try await load(spool, origin, count: 1 << 20) }
        #expect(origin.requestCount == 0)
    }

    @Test("creates a file that only its owner can read and write")
    func mode() throws {
        let status = Modes()
        var writer = SpoolWriter(
            spool { operation, path in if operation == .removeFile { status.note(path) } }
        )
        try writer.append(Data(repeating: 1, count: 11))
        #expect(status.all == [0o600])
    }

    @Test("returns a stream from the first byte each time, however far the previous stream was read")
    func again() throws {
        var writer = SpoolWriter(BodySpool(memory: .bytes(0), directory: folder.url))
        let body = Data((0..<1_000).map { UInt8(truncatingIfNeeded: $0) })
        try writer.append(body)
        let request = writer.finish(URLRequest(url: URL(fileURLWithPath: "/")))
        for limit in [1, 7, 999, 1_000, 4_096] {
            let stream = try #require(request.rewound.httpBodyStream)
            #expect(stream.streamStatus == .notOpen)
            stream.open()
            var read = Data()
            var buffer = [UInt8](repeating: 0, count: limit)
            while stream.hasBytesAvailable {
                let count = stream.read(&buffer, maxLength: limit)
                try #require(count > 0)
                read += buffer[..<count]
            }
            #expect(read == body)
            #expect(stream.streamStatus == .atEnd)
            stream.close()
        }
    }

    @Test("returns a stream that reads no bytes at its end, and fails only before it is opened and after it is closed")
    func end() throws {
        var writer = SpoolWriter(BodySpool(memory: .bytes(0), directory: folder.url))
        try writer.append(Data("body".utf8))
        let stream = try #require(writer.finish(URLRequest(url: URL(fileURLWithPath: "/"))).httpBodyStream)
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(stream.read(&buffer, maxLength: 16) == -1)
        stream.open()
        #expect((1...3).map { _ in stream.read(&buffer, maxLength: 16) } == [4, 0, 0])
        #expect(stream.streamStatus == .atEnd)
        #expect(stream.streamError == nil)
        stream.close()
        #expect(stream.read(&buffer, maxLength: 16) == -1)
    }

    /// A request of which two MiB of four are written, and its body.
    private func halfWritten() throws -> (writer: SpoolWriter, stream: any RewindableStream, body: SpooledBody) {
        var writer = SpoolWriter(BodySpool(memory: .bytes(0), directory: folder.url))
        try writer.append(Data(repeating: 1, count: 2 << 20))
        let (request, body) = try #require(writer.begin(URLRequest(url: folder.url), length: 4 << 20))
        return (writer, try #require(request.httpBodyStream as? any RewindableStream), body)
    }

    private func read(_ count: Int, of stream: InputStream) -> Int {
        var buffer = [UInt8](repeating: 0, count: count)
        if stream.streamStatus == .notOpen { stream.open() }
        return stream.read(&buffer, maxLength: count)
    }

    @Test("returns a stream of a body that is being written, whose reader is called when there is more")
    func arriving() throws {
        var (writer, stream, _) = try halfWritten()
        let calls = Atomic(0)
        #expect(stream.length == 4 << 20 && !stream.isWhole)
        stream.whenReadable { calls.add(1, ordering: .relaxed) }
        #expect(calls.load(ordering: .relaxed) == 1)
        #expect(read(4 << 20, of: stream) == 2 << 20)
        stream.whenReadable { calls.add(1, ordering: .relaxed) }
        stream.whenWhole { calls.add(1, ordering: .relaxed) }
        #expect(calls.load(ordering: .relaxed) == 1)
        try writer.append(Data(repeating: 2, count: 1))
        #expect(calls.load(ordering: .relaxed) == 2)
        try writer.append(Data(repeating: 2, count: (2 << 20) - 1))
        #expect(calls.load(ordering: .relaxed) == 3 && stream.isWhole)
        #expect(read(4 << 20, of: stream) == 2 << 20)
        #expect(stream.streamStatus == .atEnd)
    }

    @Test("fails the reads of a body that is not written to its end")
    func stopped() throws {
        let (_, stream, body) = try halfWritten()
        let calls = Atomic(0)
        _ = read(2 << 20, of: stream)
        stream.whenReadable { calls.add(1, ordering: .relaxed) }
        stream.whenWhole { calls.add(1, ordering: .relaxed) }
        body.stop(URLError(.networkConnectionLost))
        #expect(calls.load(ordering: .relaxed) == 2)
        #expect(read(1, of: stream) == -1)
        #expect((stream.streamError as? URLError)?.code == .networkConnectionLost)
    }

    @Test("lets the writer be one MiB ahead of the readers, and more only if the whole body is needed")
    func lead() throws {
        let calls = Atomic(0)
        let (_, stream, body) = try halfWritten()
        for _ in 1...2 { body.whenTaken { calls.add(1, ordering: .relaxed) } }
        _ = read((1 << 20) - 1, of: stream)
        // Bytes that are read once more do not count again.
        _ = read((1 << 20) - 1, of: stream.rewound)
        #expect(calls.load(ordering: .relaxed) == 0)
        _ = read(1, of: stream)
        #expect(calls.load(ordering: .relaxed) == 2)

        let (_, needed, neededBody) = try halfWritten()
        neededBody.whenTaken { calls.add(1, ordering: .relaxed) }
        #expect(calls.load(ordering: .relaxed) == 2)
        needed.whenWhole {}
        #expect(calls.load(ordering: .relaxed) == 3)
    }
}

private final class Modes: Sendable {
    private let log = Mutex<[mode_t]>([])
    var all: [mode_t] { log.withLock { $0 } }
    func note(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        log.withLock { $0.append(status.st_mode & 0o777) }
    }
}
