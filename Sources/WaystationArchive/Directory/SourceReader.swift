import WaystationFileSystem

/// Reads consecutive records from a part of a source through a window, so that memory use does not grow with the part.
struct SourceReader {
    private let source: any ByteSource
    private let windowSize: Int
    /// The position of the next read.
    private(set) var position: Int
    /// The end of the part that may be read.
    let end: Int
    private var window: [UInt8] = []
    private var windowStart = 0

    /// Makes a reader of a range that lies within the source.
    init(_ source: any ByteSource, range: Range<Int>, windowSize: Int) {
        self.source = source
        self.windowSize = windowSize
        position = range.lowerBound
        end = range.upperBound
    }

    /// The number of bytes left to read.
    var remaining: Int { end - position }

    /// Moves to a position within the range.
    mutating func seek(to position: Int) { self.position = position }

    /// The next bytes, or `nil` when fewer are left.
    mutating func next(_ count: Int) throws -> ArraySlice<UInt8>? {
        guard count <= remaining else { return nil }
        if position < windowStart || position + count > windowStart + window.count {
            let size = Swift.min(Swift.max(count, windowSize), remaining)
            window = try source.bytes(at: position, count: size)
            windowStart = position
        }
        let start = position - windowStart
        position += count
        return window[start..<start + count]
    }
}

extension ByteSource {
    /// The bytes of a range that lies within the source.
    func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        let bytes = try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let room = UnsafeMutableRawBufferPointer(buffer)[..<count]
            filled = try read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: room))
        }
        guard bytes.count == count else { throw ZipError.truncatedSource }
        return bytes
    }
}

extension ZipError {
    static var truncatedSource: ZipError {
        ZipError(.truncatedSource, "the source ended before its stated length; the file became shorter: fetch it again")
    }
}
