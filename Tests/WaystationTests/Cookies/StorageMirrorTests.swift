import Foundation
import Testing

@testable import Waystation

@Suite("A storage mirror")
struct StorageMirrorTests {
    private func cookie(_ name: String, _ value: String = "1", expires: Date? = nil) throws -> Cookie {
        try Cookie(name: name, value: value, domain: "shop.example", expires: expires, creation: .distantPast)
    }

    @Test("reports every cookie at the first look, and none at the next")
    func looks() throws {
        var mirror = StorageMirror()
        let held = [try cookie("a"), try cookie("b")]
        #expect(mirror.look(at: held, asOf: mirror.version) == [.put(held[0]), .put(held[1])])
        #expect(mirror.look(at: held, asOf: mirror.version) == [])
    }

    @Test("distinguishes cookies that were added, changed and removed since the last look")
    func differences() throws {
        var mirror = StorageMirror()
        _ = mirror.look(at: [try cookie("a"), try cookie("b")], asOf: 0)
        let now = [try cookie("a", "2"), try cookie("c")]
        #expect(mirror.look(at: now, asOf: 0) == [.put(now[0]), .put(now[1]), .removed(try cookie("b").id)])
    }

    @Test("does not report its own write as a change, neither during the write nor afterwards")
    func writing() throws {
        var mirror = StorageMirror()
        let cookie = try cookie("a")
        mirror.beginWriting([cookie.id])
        #expect(mirror.look(at: [], asOf: mirror.version) == [])
        #expect(mirror.look(at: [cookie], asOf: mirror.version) == [])
        mirror.endWriting([.init(id: cookie.id, cookie: cookie)], holding: [cookie])
        #expect(mirror.look(at: [cookie], asOf: mirror.version) == [])
        #expect(mirror.holds(cookie))
    }

    @Test("ignores a written cookie in a look that began before the write ended")
    func staleLook() throws {
        var mirror = StorageMirror()
        let (old, new) = (try cookie("a"), try cookie("a", "2"))
        _ = mirror.look(at: [old], asOf: mirror.version)
        let version = mirror.version
        mirror.beginWriting([new.id])
        mirror.endWriting([.init(id: new.id, cookie: new)], holding: [new])
        #expect(mirror.look(at: [old], asOf: version) == [])
        #expect(mirror.look(at: [old], asOf: mirror.version) == [.put(old)])
    }

    @Test("does not report a cookie that the storage refused as removed")
    func refused() throws {
        var mirror = StorageMirror()
        let cookie = try cookie("a")
        mirror.beginWriting([cookie.id])
        mirror.endWriting([.init(id: cookie.id, cookie: cookie)], holding: [])
        #expect(mirror.look(at: [], asOf: mirror.version) == [])
        #expect(!mirror.contains(cookie.id))
    }

    @Test("reports a cookie that others changed while another version was written")
    func changedMeanwhile() throws {
        let (old, new, others) = (try cookie("a"), try cookie("a", "2"), try cookie("a", "3"))
        for write in [StorageMirror.Write(id: new.id, cookie: new), StorageMirror.Write(id: new.id, cookie: nil)] {
            var mirror = StorageMirror()
            _ = mirror.look(at: [old], asOf: mirror.version)
            mirror.beginWriting([new.id])
            #expect(mirror.look(at: [others], asOf: mirror.version) == [])
            mirror.endWriting([write], holding: [others])
            #expect(mirror.look(at: [others], asOf: mirror.version) == [.put(others)])
        }
    }

    @Test("reports a cookie that others removed after it was written")
    func removedMeanwhile() throws {
        var mirror = StorageMirror()
        let cookie = try cookie("a")
        mirror.beginWriting([cookie.id])
        mirror.endWriting([.init(id: cookie.id, cookie: cookie, wasKept: true)], holding: [])
        #expect(mirror.look(at: [], asOf: mirror.version) == [.removed(cookie.id)])
    }

    @Test("knows what it knew before when a write fails and the storage cannot be read")
    func unreadable() throws {
        var mirror = StorageMirror()
        let cookie = try cookie("a")
        _ = mirror.look(at: [cookie], asOf: mirror.version)
        mirror.beginWriting([cookie.id])
        mirror.endWriting([.init(id: cookie.id, cookie: nil, hasFailed: true)], holding: nil)
        #expect(mirror.contains(cookie.id))
        mirror.beginWriting([cookie.id])
        mirror.endWriting([.init(id: cookie.id, cookie: nil)], holding: nil)
        #expect(!mirror.contains(cookie.id))
    }

    @Test("does not report a change when the storage drops SameSite and fractions of a second")
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
