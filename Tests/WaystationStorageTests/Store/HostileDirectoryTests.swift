import Foundation
import Testing
import WaystationTestSupport

@testable import WaystationStorage

@Suite("A directory that others have changed", .timeLimit(.minutes(10)))
struct HostileDirectoryTests {
    private let fixture: StoreFixture
    /// A directory outside the store, with files that the store must not touch.
    private let victim: StoreFixture

    init() throws {
        fixture = try StoreFixture()
        victim = try StoreFixture()
        for name in ["letter.txt", "cd" + String(repeating: "0", count: 62), "cd/photo.jpg", "lock"] {
            let file = victim.directory.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(name.utf8).write(to: file)
        }
    }

    private var root: String { fixture.layout.root }

    private func link(_ path: String, to target: String) throws {
        let directory = URL(filePath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    private func setMode(_ mode: mode_t, _ path: String) throws { try #require(chmod(path, mode) == 0) }

    private func mode(_ path: String) throws -> mode_t {
        // Which module defines the fields of `stat` depends on the files that the compiler takes together.
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        return mode_t(try #require(permissions).uint32Value) & 0o7777
    }

    /// Opens a store, lets it do its upkeep, and returns the problems that it reports.
    private func open() async -> [StoreEvent] {
        let store = fixture.store()
        await store.flush()
        _ = await store.lookup(.get("a"))
        await store.flush()
        return store.condition
    }

    private func expectRefusal(_ reason: String) async {
        let error = #expect(throws: StoreError.self) { try ResponseStore.prepareDirectory(fixture.directory) }
        #expect(error?.code == .unusableDirectory)
        #expect("\(error.map { "\($0)" } ?? "")".contains(reason))
        let condition = await open()
        #expect(condition.map(\.kind) == [.unavailable])
        #expect(condition.first?.detail.contains(reason) == true)
    }

    @Test(
        "with a link in place of a directory is refused, and the link's target stays unchanged",
        arguments: ["bodies/cd", "bodies", "staging", ""]
    )
    func links(name: String) async throws {
        let before = victim.files(in: "").sorted()
        let path = name.isEmpty ? root : "\(root)/\(name)"
        if name.isEmpty { try FileManager.default.removeItem(atPath: path) }
        try link(path, to: victim.layout.root)
        await expectRefusal("symbolic link")
        #expect(victim.files(in: "").sorted() == before)
        #expect(before.count == 4)
    }

    @Test("with a link among the staging directories works, and the link's target stays unchanged")
    func linkedLeftOver() async throws {
        try link("\(root)/staging/\(RandomName.make())", to: victim.layout.root)
        #expect(await open().isEmpty)
        #expect(victim.files(in: "").count == 4)
    }

    @Test("with a link in place of a body misses, removes the link, and stores the body again")
    func linkedBody() async throws {
        try await fixture.store().store(.get("a"), .random(100_000))
        let name = try #require(fixture.files(in: "bodies").first)
        let copy = victim.directory.appending(path: "copy")
        try FileManager.default.moveItem(atPath: "\(root)/bodies/\(name)", toPath: copy.path)
        try link("\(root)/bodies/\(name)", to: copy.path)
        let store = fixture.store()
        #expect(await store.lookup(.get("a")).isEmpty)
        await store.flush()
        #expect(FileManager.default.fileExists(atPath: copy.path))
        try await store.store(.get("a"), .random(100_000))
        #expect(try await store.bodies(.get("a")) == [.random(100_000)])
    }

    @Test("with a FIFO in place of a body misses, and continues to answer")
    func fifo() async throws {
        let filler = fixture.store()
        try await filler.store(.get("a"), .random(100_000))
        try await filler.store(.get("b"), .random(10))
        let name = try #require(fixture.files(in: "bodies").first)
        try FileManager.default.removeItem(atPath: "\(root)/bodies/\(name)")
        try #require(mkfifo("\(root)/bodies/\(name)", 0o600) == 0)
        let store = fixture.store()
        #expect(await store.lookup(.get("a")).isEmpty)
        #expect(await store.lookup(.get("b")).count == 1)
        await store.flush()
        #expect(fixture.events.of(.damaged).count == 1)
        try await store.store(.get("a"), .random(100_000))
        #expect(try await store.bodies(.get("a")) == [.random(100_000)])
    }

    @Test("that belongs to another user is refused")
    func foreignOwner() async throws {
        if geteuid() == 0 {
            try #require(chown(root, 65_534, 65_534) == 0)
            await expectRefusal("belongs to user 65534")
            #expect(fixture.files(in: "").isEmpty)
        } else {
            // This directory exists on every machine.
            let error = #expect(throws: StoreError.self) {
                try ResponseStore.prepareDirectory(URL(filePath: "/usr", directoryHint: .isDirectory))
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains("belongs to user 0"))
        }
    }

    @Test("with entries that belong to another user is refused", .enabled(if: geteuid() == 0))
    func foreignParts() async throws {
        for name in ["bodies", "bodies/cd", "staging", "index.sqlite"] {
            let copy = try HostileDirectoryTests()
            let path = "\(copy.root)/\(name)"
            if name.hasPrefix("index") {
                try Data().write(to: URL(filePath: path))
            } else {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            try #require(chown(path, 65_534, 65_534) == 0)
            await copy.expectRefusal("belongs to user 65534")
        }
    }

    @Test("that is not a file URL is refused, and nothing is made at its path")
    func remote() async throws {
        let remote = try #require(URL(string: "https://store.example\(root)/new"))
        let problem = "\(remote): it is not a file URL"
        let error = #expect(throws: StoreError.self) { try ResponseStore.prepareDirectory(remote) }
        #expect(error?.code == .unusableDirectory)
        #expect(error?.description.contains(problem) == true)
        let store = ResponseStore(directory: remote)
        await store.flush()
        #expect(store.condition.map(\.kind) == [.unavailable])
        #expect(store.condition.first?.detail.contains(problem) == true)
        #expect(fixture.files(in: "").isEmpty)
        #expect(!FileManager.default.fileExists(atPath: "\(root)/new"))
    }

    @Test(
        "that all other users may write to is refused, and left unchanged",
        arguments: [0o777, 0o1777, 0o2770] as [mode_t]
    )
    func writableByOthers(mode: mode_t) async throws {
        try setMode(mode, root)
        await expectRefusal("other users may write to this directory")
        #expect(try self.mode(root) == mode)
        #expect(fixture.files(in: "").isEmpty)
    }

    @Test("that a group may write to, as the umask of many systems allows, is closed to the group")
    func writableByGroup() async throws {
        try setMode(0o775, root)
        try ResponseStore.prepareDirectory(fixture.directory)
        #expect(try mode(root) == 0o755)
        #expect(await open().isEmpty)
    }

    @Test("in which others may write to the store's own files and directories is closed to them")
    func ownParts() async throws {
        try await fixture.store().store(.get("a"), .random(100_000))
        let shard = try #require(FileManager.default.contentsOfDirectory(atPath: "\(root)/bodies").first)
        for path in ["bodies", "bodies/\(shard)", "staging"] { try setMode(0o777, "\(root)/\(path)") }
        try setMode(0o666, fixture.layout.index)
        let store = fixture.store()
        #expect(try await store.bodies(.get("a")) == [.random(100_000)])
        for path in ["bodies", "bodies/\(shard)", "staging"] {
            #expect(try mode("\(root)/\(path)") == 0o755, "\(path)")
        }
        #expect(try mode(fixture.layout.index) == 0o600)
        #expect(try mode(fixture.layout.index + "-wal") == 0o600)
        #expect(store.condition.isEmpty)
    }

    @Test("is used although another process removes an empty directory of bodies while it is checked")
    func vanishing() throws {
        let bodies = root + "/bodies"
        let shard = bodies + "/ab"
        try FileManager.default.createDirectory(atPath: shard, withIntermediateDirectories: true)
        // A directory that is in order is not opened.
        try setMode(0o777, shard)
        try LocalFileSystem().confined(to: root).checkDirectories(in: bodies) { _ in
            (try? FileManager.default.removeItem(atPath: shard)) != nil
        }
        #expect(!FileManager.default.fileExists(atPath: shard))
    }

    @Test("keeps every file whose name does not follow the store's pattern")
    func foreignNames() async throws {
        let own = "bodies/cd/cd" + String(repeating: "0", count: 62)
        let foreign = ["bodies/cd/notes.txt", "bodies/CD/" + own.dropFirst(10), "bodies/notes/a", "staging/notes/a"]
        for name in foreign + [own] {
            let file = fixture.directory.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("x".utf8).write(to: file)
        }
        #expect(await open().isEmpty)
        for name in foreign { #expect(fixture.files(in: "").contains(name)) }
        #expect(!fixture.files(in: "").contains(own))
    }
}

@Suite("An index that does not belong to the store")
struct ForeignIndexTests {
    private let fixture: StoreFixture
    private let other: StoreFixture

    init() throws {
        fixture = try StoreFixture()
        other = try StoreFixture()
    }

    private var path: String { other.directory.appending(path: "contacts.db").path }

    /// Creates the database of another program, with an open connection to it.
    private func makeDatabase(_ pragmas: String = "") throws -> Connection {
        let database = try Connection(Database(path: path))
        try database.use { db in
            try db.execute("\(pragmas); CREATE TABLE contacts (name TEXT); INSERT INTO contacts VALUES ('Ada')")
        }
        return database
    }

    private func condition() async -> [StoreEvent] {
        let store = fixture.store()
        await store.flush()
        #expect(store.write(.get("a"), .random(10)) == nil)
        return store.condition
    }

    @Test("is refused if it is a link, and the link's target stays unchanged")
    func link() async throws {
        try makeDatabase().close()
        let before = try Data(contentsOf: URL(filePath: path))
        try FileManager.default.createSymbolicLink(atPath: fixture.layout.index, withDestinationPath: path)
        #expect(throws: StoreError.self) { try ResponseStore.prepareDirectory(fixture.directory) }
        #expect(await condition().first?.detail.contains("symbolic link") == true)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        #expect(other.files(in: "") == ["contacts.db"])
    }

    @Test(
        "is refused if another program made it, and not a byte of it changes",
        arguments: ["", "PRAGMA application_id = 252006674; PRAGMA user_version = 99", "PRAGMA journal_mode = WAL"]
    )
    func foreign(pragmas: String) async throws {
        let database = try makeDatabase(pragmas)
        // With the contents of its log, as after a crash of that program.
        for name in other.files(in: "") where !name.hasSuffix("-shm") {
            let suffix = name.dropFirst("contacts.db".count)
            try FileManager.default.copyItem(
                atPath: other.directory.appending(path: name).path,
                toPath: fixture.layout.index + suffix
            )
        }
        database.close()
        let names = ["index.sqlite", "index.sqlite-wal"]
        let before = names.map { try? Data(contentsOf: fixture.directory.appending(path: $0)) }
        let condition = await condition()
        #expect(condition.map(\.kind) == [.unavailable])
        #expect(condition.first?.detail.contains("another program") == true)
        #expect(names.map { try? Data(contentsOf: fixture.directory.appending(path: $0)) } == before)
        #expect(!fixture.files(in: "").contains { $0.contains("damaged") })
        let error = #expect(throws: StoreError.self) { try StoreInspector(directory: fixture.directory) }
        #expect(error?.code == .notAStore)
        #expect(names.map { try? Data(contentsOf: fixture.directory.appending(path: $0)) } == before)
    }

    @Test("can neither rewrite the schema nor call functions from it, in either connection")
    func defences() throws {
        let index = try StoreIndex(path: fixture.layout.index, environment: .patient)
        defer { index.close() }
        for queue in [index.reader, index.writer] {
            try queue.use { db in
                #expect(try db.integer("PRAGMA trusted_schema") == 0)
                try db.execute("PRAGMA writable_schema = ON")
                #expect(throws: SQLiteError.self) { try db.execute("UPDATE sqlite_schema SET sql = NULL") }
            }
        }
    }
}
