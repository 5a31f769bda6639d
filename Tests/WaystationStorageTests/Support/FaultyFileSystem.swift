import Foundation
import Synchronization

@testable import WaystationStorage

/// The real file system, with a hook before each operation that may fail it, and a last word on what is read.
final class FaultyFileSystem: StoreFileSystem {
    enum Operation: Hashable, Sendable {
        case createDirectory, contents, createFile, openFile, write, read, synchronize, rename, removeFile, lock
    }

    private let real = LocalFileSystem()
    private let before: @Sendable (Operation, String) throws -> Void

    init(before: @escaping @Sendable (Operation, String) throws -> Void) { self.before = before }

    /// Fails some operations with an error code for as long as it is switched on.
    static func failing(_ operations: Set<Operation>, with code: Int32, while isOn: Switch) -> FaultyFileSystem {
        FaultyFileSystem { operation, path in
            if isOn.value, operations.contains(operation) { throw FileError("\(operation)", path, code: code) }
        }
    }

    func createDirectory(_ path: String) throws {
        try before(.createDirectory, path)
        try real.createDirectory(path)
    }

    func contents(of directory: String) throws -> [String] {
        try before(.contents, directory)
        return try real.contents(of: directory)
    }

    func createFile(_ path: String) throws -> OpenFile {
        try before(.createFile, path)
        return try real.createFile(path)
    }

    func openFile(_ path: String) throws -> OpenFile {
        try before(.openFile, path)
        return try real.openFile(path)
    }

    func write(_ data: Data, to file: OpenFile) throws {
        try before(.write, file.path)
        try real.write(data, to: file)
    }

    func read(_ file: OpenFile, at offset: Int, count: Int) throws -> Data {
        try before(.read, file.path)
        return try real.read(file, at: offset, count: count)
    }

    func length(of file: OpenFile) throws -> Int { try real.length(of: file) }

    func synchronize(_ file: OpenFile) throws {
        try before(.synchronize, file.path)
        try real.synchronize(file)
    }

    func rename(_ source: String, to destination: String) throws {
        try before(.rename, source)
        try real.rename(source, to: destination)
    }

    func removeFile(_ path: String) throws {
        try before(.removeFile, path)
        try real.removeFile(path)
    }

    func removeDirectory(_ path: String) throws { try real.removeDirectory(path) }

    func lock(_ path: String) throws -> OpenFile? {
        try before(.lock, path)
        return try real.lock(path)
    }

    func identity(of path: String) throws -> FileIdentity? { try real.identity(of: path) }

    func identity(of file: OpenFile) throws -> FileIdentity { try real.identity(of: file) }
}

/// A flag that tests turn on and off while a store runs.
final class Switch: Sendable {
    private let state: Mutex<Bool>

    init(_ value: Bool) { state = Mutex(value) }

    var value: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
