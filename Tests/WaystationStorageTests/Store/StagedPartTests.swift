import Foundation
import HTTPTypes
import Testing
import WaystationHTTP
import WaystationTestSupport

@testable import WaystationStorage

@Suite("Bodies that a process was writing when it was killed")
struct StagedPartTests {
    private let fixture: StoreFixture
    private static let block = BlockChecksums.blockSize
    /// The number of bytes in whole blocks that are on disk before the end of the body has come.
    private static let written = 4 * block
    private let body = Data.random(5 * block + 100)

    init() throws { fixture = try StoreFixture() }

    private func head(_ fields: HTTPFields = [.eTag: "\"a\""], status: Int = 200, length: Int? = nil) -> StoredHead {
        StoredHead(
            key: .get("film"),
            status: status,
            headerFields: fields,
            requestTime: fixture.clock.now,
            responseTime: fixture.clock.now,
            contentLength: length ?? 10 * body.count
        )
    }

    /// Writes a body without an end, and leaves the directory as a process that is killed leaves it.
    private func kill(_ head: StoredHead, offset: Int = 0) async throws {
        let store = fixture.store()
        let writer = try #require(store.begin(head, offset: offset))
        for start in stride(from: 0, to: body.count, by: 50_000) { writer.append(body[start...].prefix(50_000)) }
        await store.flush()
        let staging = fixture.directory.appending(path: "staging")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: staging.path).first)
        try FileManager.default.copyItem(
            at: staging.appending(path: name),
            to: staging.appending(path: String(repeating: "d", count: 32))
        )
        writer.abandon()
        await store.flush()
    }

    private func files(_ suffix: String) throws -> URL {
        let dead = fixture.directory.appending(path: "staging").appending(path: String(repeating: "d", count: 32))
        let names = try FileManager.default.contentsOfDirectory(atPath: dead.path).filter { $0 != "lock" }
        let name = try #require(names.first { $0.hasSuffix(".part") == (suffix == ".part") })
        return dead.appending(path: name)
    }

    @Test("become parts, which their origin must confirm")
    func salvaged() async throws {
        try await kill(head())
        let store = fixture.store()
        let found = await store.lookup(.get("film"))
        #expect(found.count == 1)
        let part = try #require(found.first)
        #expect(part.head.status == 206)
        #expect(part.head.headerFields[.contentRange] == "bytes 0-\(Self.written - 1)/\(10 * body.count)")
        #expect(try part.body.contents() == body.prefix(Self.written))
        // It answers nothing by itself.
        var request = HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/")
        request.headerFields[.range] = "bytes=0-\(Self.written - 1)"
        let joined = StoredParts.joined(among: [part.head]).map(\.head)
        let decision = ReuseDecision(for: request, among: [part.head] + joined, now: fixture.clock.now)
        guard case .forward = decision else { return #expect(Bool(false), "\(decision)") }
        request.headerFields[.range] = nil
        let completion = Completion(for: request, among: [part.head] + joined)
        #expect(completion?.missing == [Self.written..<10 * body.count])
        // Its mark is on disk only.
        let mark = try #require(HTTPField.Name("Waystation-Unconfirmed"))
        #expect(part.head.headerFields.contains(mark))
        let selection = completion?.selection(
            updatedBy: HTTPResponse(status: .partialContent),
            requestTime: fixture.clock.now,
            responseTime: fixture.clock.now,
            rules: .standard
        )
        #expect(selection?.response.headerFields.contains(mark) == false)
        await store.flush()
        #expect(fixture.files(in: "staging").allSatisfy { !$0.hasPrefix("dddd") })
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
        #expect(fixture.events.of(.stored).contains { $0.key == .get("film") })
    }

    @Test("of a part continue at its place")
    func offset() async throws {
        let fields: HTTPFields = [
            .eTag: "\"a\"", .contentRange: "bytes 1000-\(10 * body.count - 1)/\(10 * body.count)",
        ]
        try await kill(head(fields, status: 206, length: 10 * body.count - 1_000), offset: 500)
        let found = await fixture.store().lookup(.get("film"))
        #expect(found.first?.head.partSpan?.bytes == 1_500..<1_500 + Self.written)
    }

    @Test("are left out without a strong validator", arguments: ["", "W/\"a\""])
    func weak(tag: String) async throws {
        try await kill(head(tag.isEmpty ? [:] : [.eTag: tag]))
        #expect(await fixture.store().lookup(.get("film")).isEmpty)
    }

    @Test("count up to the first block that is not as it was written, if the machine has restarted since")
    func changed() async throws {
        try await kill(head())
        let record = try files(".part")
        let (part, sums, isSameBoot) = try #require(StagedPart.read(Data(contentsOf: record)))
        #expect(isSameBoot)
        try (part.encoded(boot: "another") + BlockChecksums(values: sums).encoded).write(to: record)
        let file = try FileHandle(forUpdating: files(""))
        try file.seek(toOffset: UInt64(2 * Self.block + 5))
        try file.write(contentsOf: Data([body[2 * Self.block + 5] ^ 1]))
        try file.close()
        let found = await fixture.store().lookup(.get("film"))
        #expect(try found.first?.body.contents() == body.prefix(2 * Self.block))
    }

    @Test("are left out with a record that was damaged, at any byte of its line")
    func damagedRecord() async throws {
        try await kill(head())
        let record = try Data(contentsOf: files(".part"))
        let end = try #require(record.firstIndex(of: UInt8(ascii: "\n")))
        #expect(StagedPart.read(record) != nil)
        for place in 0..<end where place != 16 {
            var changed = record
            changed[place] ^= 1
            #expect(StagedPart.read(changed) == nil, "byte \(place)")
        }
        for length in 0..<end { #expect(StagedPart.read(record.prefix(length)) == nil) }
        #expect(StagedPart.read(record.prefix(end + 9))?.checksums.count == 1)
        #expect(StagedPart.read(record.prefix(end + 8))?.checksums.isEmpty == true)
    }

    @Test("whose files cannot be moved do not keep the store from opening, and are reported")
    func failing() async throws {
        try await kill(head())
        let store = fixture.store {
            $0.fileSystem = FaultyFileSystem { operation, path in
                if operation == .truncate { throw FileError("truncate", path, code: EIO) }
            }
        }
        #expect(await store.lookup(.get("film")).isEmpty)
        #expect(fixture.events.of(.unavailable).contains { $0.detail.contains("has left could not be stored") })
        let writer = try #require(store.begin(head(length: 10)))
        writer.append(.random(10))
        try await writer.commit()
        #expect(await store.lookup(.get("film")).count == 1)
    }

    @Test("a body that was written to its end, or dropped, leaves no record")
    func ended() async throws {
        let store = fixture.store()
        for isCommitted in [true, false] {
            let writer = try #require(store.begin(head(length: body.count)))
            writer.append(body)
            if isCommitted { try await writer.commit() } else { writer.abandon() }
            await store.flush()
            #expect(fixture.files(in: "staging").allSatisfy { !$0.hasSuffix(".part") })
        }
    }
}
