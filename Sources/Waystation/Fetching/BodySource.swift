import Foundation
import WaystationFiles
import WaystationStorage

/// A body on disk that is read piece by piece.
protocol BodySource: Sendable {
    /// The length of the body in bytes.
    var length: Int { get }
    /// Reads exactly `count` bytes from `offset`; throws if the file has become shorter.
    func read(at offset: Int, count: Int) throws -> Data
}

extension FileSlice: BodySource {}
extension StoredBodyFile: BodySource {}
