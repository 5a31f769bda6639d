#if Redis
/// One of the slots among which a cluster divides its keys
/// (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/).
struct HashSlot: Hashable, Sendable {
    /// The number of slots of every cluster.
    static let count = 16_384

    /// The number of the slot, less than ``count``.
    let number: Int

    /// Nil if there is no slot with this number.
    init?(_ number: Int) {
        guard (0..<Self.count).contains(number) else { return nil }
        self.number = number
    }

    /// The slot of a key: the checksum of its hash tag, or of the whole key if it has none.
    init(of key: String) {
        number = Int(Self.checksum(Self.hashed(Array(key.utf8)[...]))) % Self.count
    }

    /// The part between the first `{` and the first `}` after it; the whole key if either is missing, or nothing
    /// stands between them.
    private static func hashed(_ key: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")) else { return key }
        let rest = key[(open + 1)...]
        guard let close = rest.firstIndex(of: UInt8(ascii: "}")), close > rest.startIndex else { return key }
        return rest[..<close]
    }

    /// CRC-16/XMODEM: the polynomial 0x1021, the highest bit first, beginning with 0.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0) { $0 << 8 ^ table[Int($0 >> 8 ^ UInt16($1))] }
    }

    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { rest, _ in rest & 0x8000 == 0 ? rest << 1 : rest << 1 ^ 0x1021 }
    }
}
#endif
