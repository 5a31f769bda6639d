import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("The body of a direct client's request", .timeLimit(.minutes(10)))
struct RequestBodyTests {
    private typealias Body = DirectClient.RequestBody

    private struct BrokenSequence: Error, Equatable {}

    /// A server that answers with the body it gets.
    private func echo() throws -> ScriptedOrigin { try ScriptedOrigin { .ok($0.body) } }

    private func send(
        _ body: Body,
        to origin: ScriptedOrigin,
        _ spool: BodySpool = BodySpool()
    ) async throws -> Data {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.bodySpool = spool
        }
        let request = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(origin.port)", path: "/")
        return try await interceptor.client(configuration: .ephemeral).data(for: request, body: body).0
    }

    private func parts(_ count: Int, of size: Int) -> (AsyncStream<Data>, whole: Data) {
        let parts = (0..<count).map { Data(repeating: UInt8(truncatingIfNeeded: $0), count: size) }
        let stream = AsyncStream { continuation in
            for part in parts { continuation.yield(part) }
            continuation.finish()
        }
        return (stream, parts.reduce(Data(), +))
    }

    @Test("is sent from memory, from a file, and from a sequence with and without a length")
    func kinds() async throws {
        let origin = try echo()
        let folder = try TemporaryDirectory()
        let (_, whole) = parts(5, of: 100_000)
        let file = folder.url.appending(path: "body with space")
        try whole.write(to: file)
        let small = BodySpool(memory: .kibibytes(1), directory: folder.url)
        let bodies: [(Body, BodySpool)] = [
            (.data(whole), BodySpool()), (.file(file), BodySpool()),
            (.parts(parts(5, of: 100_000).0), BodySpool()),
            (.parts(parts(5, of: 100_000).0, length: 500_000), BodySpool()),
            (.parts(parts(5, of: 100_000).0), small), (.parts(parts(5, of: 100_000).0, length: 500_000), small),
        ]
        for (body, spool) in bodies {
            #expect(try await send(body, to: origin, spool) == whole)
        }
        // Only the app's own file is there.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["body with space"])
    }

    @Test("is sent again after a redirect")
    func redirect() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/" ? .status(307, fields: ["Location": "/next"]) : .ok(request.body)
        }
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "body")
        try Data("of a file".utf8).write(to: file)
        #expect(try await send(.file(file), to: origin) == Data("of a file".utf8))
        let (stream, whole) = parts(3, of: 10)
        #expect(try await send(.parts(stream), to: origin) == whole)
    }

    @Test("fails if it has another length than was stated, in memory and in a file", arguments: [0, 1 << 20])
    func wrongLength(memory: Int) async throws {
        let origin = try echo()
        for length in [20, 29, 31] {
            let body = Body.parts(parts(3, of: 10).0, length: length)
            await #expect {
                try await send(body, to: origin, BodySpool(memory: .bytes(memory)))
            } throws: {
                ($0 as? URLError)?.code == .requestBodyStreamExhausted && $0.localizedDescription.contains("\(length)")
            }
        }
        #expect(origin.requests.allSatisfy { $0.body.count < 20 })
    }

    @Test("ends the load with the error of its sequence", arguments: [0, 1 << 20])
    func throwingSequence(memory: Int) async throws {
        let origin = try echo()
        struct Failing: AsyncSequence, Sendable {
            struct AsyncIterator: AsyncIteratorProtocol {
                var parts = [Data("a".utf8)]

                mutating func next() async throws -> Data? {
                    guard let part = parts.popLast() else { throw BrokenSequence() }
                    return part
                }
            }

            func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
        }
        let stream = Failing()
        for length in [1, 2, nil] {
            await #expect(throws: BrokenSequence()) {
                try await send(.parts(stream, length: length), to: origin, BodySpool(memory: .bytes(memory)))
            }
        }
        #expect(origin.requests.allSatisfy { $0.body.isEmpty })
    }

    @Test("is not waited for when the task is cancelled")
    func cancel() async throws {
        let origin = try echo()
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        let (reads, read) = AsyncStream<Void>.makeStream()
        continuation.yield(Data("a".utf8))
        let parts = stream.map { part in
            read.yield()
            return part
        }
        let task = Task { try await send(.parts(parts), to: origin) }
        for await _ in reads { break }
        task.cancel()
        await #expect { try await task.value } throws: { ($0 as? URLError)?.code == .cancelled }
        #expect(origin.requestCount == 0)
    }

    /// Parts of 2 MiB without end.
    private struct Endless: AsyncSequence, Sendable {
        /// An object that is released when nothing can read the parts any more.
        final class Reader: Sendable {}

        struct AsyncIterator: AsyncIteratorProtocol {
            let clock: ManualClock
            var count = 0

            mutating func next() async -> Data? {
                count += 1
                if count == 3 { clock.fire() }
                return Data(repeating: 1, count: 2 << 20)
            }
        }

        let reader: Reader
        /// Fires with the third part.
        let clock: ManualClock

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(clock: clock) }
    }

    @Test("is stored no further when its load has ended", arguments: [true, false])
    func rest(isAnsweredAtOnce: Bool) async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        let clock = ManualClock()
        let interceptor = try Interceptor {
            $0.schedule = clock.schedule
            $0.rules = [.allow("http://127.0.0.1:*/**", via: isAnsweredAtOnce ? .source(Greeting()) : .network)]
            $0.bodySpool = BodySpool(memory: .bytes(0))
        }
        weak var reader: Endless.Reader?
        do {
            let parts = Endless(reader: Endless.Reader(), clock: clock)
            reader = parts.reader
            var options = DirectClient.Options()
            // Foundation's engine sends the body when all of it is there, which never happens.
            if !isAnsweredAtOnce { options.deadline = .hours(1) }
            let client = interceptor.client(configuration: .ephemeral)
            let request = HTTPRequest(method: .put, scheme: "http", authority: "127.0.0.1:\(origin.port)", path: "/")
            let body = Body.parts(parts, length: 1 << 40)
            do {
                _ = try await client.data(for: request, body: body, options: options)
                #expect(isAnsweredAtOnce)
            } catch {
                #expect((error as? URLError)?.code == .timedOut)
            }
        }
        #expect(await eventually { reader == nil })
    }

    @Test("is read through a link")
    func link() async throws {
        let origin = try echo()
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "file")
        try Data("linked".utf8).write(to: file)
        let link = folder.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        #expect(try await send(.file(link), to: origin) == Data("linked".utf8))
    }

    @Test("is an error that names the file, if that cannot be read")
    func missingFile() async throws {
        let origin = try echo()
        for path in ["/no/such/file", "/"] {
            await #expect {
                try await send(.file(URL(filePath: path)), to: origin)
            } throws: {
                [.fileDoesNotExist, .cannotOpenFile].contains(($0 as? URLError)?.code)
                    && $0.localizedDescription.contains(path)
            }
        }
    }
}

@Suite("The lines of a body")
struct LineSplitterTests {
    /// The lines of parts.
    private func lines(_ parts: [String]) -> [String] { lines(parts.map { Data($0.utf8) }) }

    private func lines(_ parts: [Data]) -> [String] {
        var splitter = LineSplitter()
        var lines: [String] = []
        for part in parts {
            splitter.append(part)
            while let line = splitter.next() { lines.append(line) }
        }
        if let rest = splitter.rest() { lines.append(rest) }
        return lines
    }

    @Test(
        "end with LF, CR LF or CR",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\n", ["a"]), ("a\r", ["a"]), ("\n\r\n\r", ["", "", ""]),
            ("a\n\nb\r\rc\r\n\r\nd", ["a", "", "b", "", "c", "", "d"]), ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"]),
            ("ä\u{2028}ö\u{85}\n", ["ä\u{2028}ö\u{85}"]),
        ]
    )
    func ends(text: String, expected: [String]) {
        #expect(lines([text]) == expected)
        // However the bytes are cut into parts.
        #expect(lines(text.utf8.map { Data([$0]) }) == expected)
        let middle = text.utf8.count / 2
        #expect(lines([Data(text.utf8.prefix(middle)), Data(text.utf8.dropFirst(middle))]) == expected)
    }

    @Test("replace bytes that are not UTF-8")
    func invalid() { #expect(lines([Data([0x61, 0xFF, 0x0A, 0xC3])]) == ["a\u{FFFD}", "\u{FFFD}"]) }

    @Test("keep only the bytes of the line that has not ended")
    func waiting() {
        var splitter = LineSplitter()
        splitter.append(Data("one\ntwo".utf8))
        #expect(splitter.next() == "one")
        #expect(splitter.next() == nil)
        #expect(splitter.waitingBytes == 3)
        splitter.append(Data("\nthree".utf8))
        #expect(splitter.waitingBytes == 9)
        #expect(splitter.next() == "two")
        #expect(splitter.next() == nil)
        #expect(splitter.waitingBytes == 5)
    }
}
