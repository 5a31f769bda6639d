import CLibFuzzer

/// bzip2 for bytes in memory.
enum Bzip2 {
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        // The size that is enough according to the documentation of BZ2_bzBuffToBuffCompress: 1 % more, and 600 bytes.
        [UInt8](unsafeUninitializedCapacity: bytes.count + bytes.count / 100 + 601) { target, count in
            count = fuzz_compress(bytes, bytes.count, target.baseAddress, target.count)
        }
    }

    static func decompressed(_ bytes: [UInt8], capacity: Int = 1 << 20) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: capacity) { target, count in
            count = fuzz_decompress(bytes, bytes.count, target.baseAddress, target.count)
        }
    }
}
