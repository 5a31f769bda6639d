package import Foundation

extension Inflater {
    /// The reason why data are not decompressed as a whole.
    package enum Refusal: Error {
        /// The data are damaged or cut off.
        case damaged
        /// The decompressed data have more bytes than the limit.
        case tooLarge
    }

    /// Decompresses data in memory.
    ///
    /// Members of gzip that follow one another are decompressed as one text (RFC 1952 §2.2).
    ///
    /// - Parameters:
    ///   - data: The compressed data.
    ///   - framing: The format that wraps them.
    ///   - limit: The largest number of decompressed bytes.
    /// - Returns: The decompressed data.
    /// - Throws: ``Refusal``, or a ``ZipError`` if zlib cannot allocate memory.
    package static func decompress(_ data: Data, _ framing: Framing, limit: Int) throws -> Data {
        var input = data
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { output.deallocate() }
        let inflater = try Inflater(framing)
        return try input.withUnsafeMutableBytes { bytes in
            var result = Data()
            var place = 0
            while true {
                guard let step = try inflater.step(from: bytes[place...], into: output[...]),
                    step.isAtEnd || step.consumed > 0 || step.produced > 0
                else { throw Refusal.damaged }
                place += step.consumed
                guard result.count + step.produced <= limit else { throw Refusal.tooLarge }
                result.append(contentsOf: output[..<step.produced])
                if step.isAtEnd {
                    guard framing == .gzip, place < bytes.count else { return result }
                    // Another member follows.
                    inflater.reset()
                }
            }
        }
    }
}
