#if Redis
import Testing

@testable import WaystationRedis

@Suite("Hash slots")
struct HashSlotTests {
    @Test("have the checksums that the cluster specification gives")
    func checksums() {
        // The test vector of the specification, and of CRC-16/XMODEM.
        #expect(HashSlot.checksum(Array("123456789".utf8)) == 0x31C3)
        #expect(HashSlot.checksum([]) == 0)
    }

    @Test(
        "are those that Redis documents for keys",
        arguments: [("foo", 12_182), ("bar", 5_061), ("hello", 866), ("somekey", 11_058), ("", 0)]
    )
    func keys(key: String, slot: Int) { #expect(HashSlot(of: key).number == slot) }

    @Test(
        "depend on the hash tag alone, if a key has one",
        arguments: [
            ("{user1000}.following", "user1000"), ("foo{{bar}}zap", "{bar"), ("foo{bar}{zap}", "bar"),
            ("a{b}c", "x{b}y"), ("{a}", "a"),
        ]
    )
    func tags(key: String, same: String) { #expect(HashSlot(of: key) == HashSlot(of: same)) }

    @Test("depend on the whole key, if the tag is empty or has no end", arguments: ["foo{}{bar}", "foo{bar", "}foo{"])
    func noTags(key: String) {
        #expect(HashSlot(of: key).number == Int(HashSlot.checksum(Array(key.utf8))) % HashSlot.count)
    }

    @Test("have numbers from 0 to 16383")
    func numbers() {
        #expect(HashSlot(-1) == nil)
        #expect(HashSlot(0)?.number == 0)
        #expect(HashSlot(16_383)?.number == 16_383)
        #expect(HashSlot(16_384) == nil)
    }
}
#endif
