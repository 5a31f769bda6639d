public import Foundation

/// The bytes of a stored response: in memory when small, in an open file when large.
public enum StoredBody: Sendable {
    /// A body in memory, checked against its recorded checksum when it was read.
    case data(Data)

    /// A body in a file, checked block by block as it is read.
    case file(StoredBodyFile)

    /// The number of bytes.
    public var length: Int {
        switch self {
        case .data(let data): data.count
        case .file(let file): file.length
        }
    }

    /// The whole body in memory.
    ///
    /// - Throws: ``StoreError`` when the file is short or its bytes are not those that were stored.
    /// - Complexity: O(length) for a file, whose bytes are read by the calling thread; O(1) otherwise.
    public func contents() throws(StoreError) -> Data {
        switch self {
        case .data(let data): data
        case .file(let file): try file.read(at: 0, count: file.length)
        }
    }
}
