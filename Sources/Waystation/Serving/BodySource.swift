import Foundation
import WaystationFiles
import WaystationStorage

/// A body that lies on disk, read piece by piece.
protocol BodySource: Sendable {
    /// Its length in bytes.
    var length: Int { get }
    /// `count` bytes from `offset`, exactly: a file that became shorter is an error.
    func read(at offset: Int, count: Int) throws -> Data
}

extension FileSlice: BodySource {}
extension StoredBodyFile: BodySource {}
