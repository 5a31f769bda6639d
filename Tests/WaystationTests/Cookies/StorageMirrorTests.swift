import Foundation
import Testing

@testable import Waystation

@Suite("What is known of a storage")
struct StorageMirrorTests {
    private func cookie(_ name: String, _ value: String = "1", expires: Date? = nil) throws -> Cookie {
        try Cookie(name: name, value: value, domain: "shop.example", expires: expires, creation: .distantPast)
    }

    @Test("the first look finds everything new, the next nothing")
    func looks() throws {
        var mirror = StorageMirror()
        let held = [try cookie("a"), try cookie("b")]
        #expect(mirror.look(at: held, asOf: mirror.version) == [.put(held[0]), .put(held[1])])
        #expect(mirror.look(at: held, asOf: mirror.version) == [])
    }

    @Test("what was put, changed and removed since is told apart")
    func differences() throws {
        var mirror = StorageMirror()
        _ = mirror.look(at: [try cookie("a"), try cookie("b")], asOf: 0)
        let now = [try cookie("a", "2"), try cookie("c")]
        #expect(mirror.look(at: now, asOf: 0) == [.put(now[0]), .put(now[1]), .removed(try cookie("b").id)])
    }

    @Test("what is written is nobody else's change, while it is written and afterwards")
    func writing() throws {
        var mirror = StorageMirror()
        let cookie = try cookie("a")
        mirror.beginWriting([cookie.id])
        #expect(mirror.look(at: [], asOf: mirror.version) == [])
        #expect(mirror.look(at: [cookie], asOf: mirror.version) == [])
        mirror.endWriting([cookie.id], holding: [cookie])
        #expect(mirror.look(at: [cookie], asOf: mirror.version) == [])
        #expect(mirror.holds(cookie))
    }

    @Test("a look that began before a write ended says nothing about what was written")
    func staleLook() throws {
        var mirror = StorageMirror()
        let (old, new) = (try cookie("a"), try cookie("a", "2"))
        _ = mirror.look(at: [old], asOf: mirror.version)
        let version = mirror.version
        mirror.beginWriting([new.id])
        mirror.endWriting([new.id], holding: [new])
        #expect(mirror.look(at: [old], asOf: version) == [])
        #expect(mirror.look(at: [old], asOf: mirror.version) == [.put(old)])
    }

    @Test("what a storage refused to hold was removed by nobody")
    func refused() throws {
        var mirror = StorageMirror()
        let cookie = try cookie("a")
        mirror.beginWriting([cookie.id])
        mirror.endWriting([cookie.id], holding: [])
        #expect(mirror.look(at: [], asOf: mirror.version) == [])
        #expect(!mirror.contains(cookie.id))
    }

    @Test("a storage keeps whole seconds and no SameSite, which is no change")
    func precision() throws {
        let moment = Date(timeIntervalSince1970: 1_900_000_000.7)
        let stated = try Cookie(
            name: "a",
            value: "1",
            domain: "shop.example",
            expires: moment,
            sameSite: .strict,
            creation: .distantPast
        )
        var mirror = StorageMirror()
        _ = mirror.look(at: [try cookie("a", expires: Date(timeIntervalSince1970: 1_900_000_000))], asOf: 0)
        #expect(mirror.holds(stated))
        #expect(!mirror.holds(try cookie("a")))
    }
}
