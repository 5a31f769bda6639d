package import Foundation
import Synchronization
package import WaystationStorage

/// The real file system, with a hook that runs before each operation and may make it fail.
package final class FaultyFileSystem: FileSystem {
    package enum Operation: Hashable, Sendable, CaseIterable {
        case createDirectory, contents, createFile, openFile, openFileForAppending, makePrivate, write, read, length
        case truncate, synchronize, rename
        case removeFile, removeDirectory, lock, identity, synchronizeDirectory, link, status, freeSpace
    }

    private let real: any FileSystem
    private let before: @Sendable (Operation, String) throws -> Void
    private let written = Atomic(0)

    /// The number of bytes that were written to files, without those of a confined file system made from this one.
    package var bytesWritten: Int { written.load(ordering: .relaxed) }

    /// Makes a file system that calls `before` ahead of each operation; an error of `before` is the operation's error.
    package convenience init(before: @escaping @Sendable (Operation, String) throws -> Void) {
        self.init(real: LocalFileSystem(), before: before)
    }

    private init(real: any FileSystem, before: @escaping @Sendable (Operation, String) throws -> Void) {
        self.real = real
        self.before = before
    }

    package func confined(to root: String) -> any FileSystem {
        FaultyFileSystem(real: real.confined(to: root), before: before)
    }

    package func createDirectory(_ path: String) throws {
        try before(.createDirectory, path)
        try real.createDirectory(path)
    }

    package func contents(of directory: String) throws -> [String] {
        try before(.contents, directory)
        return try real.contents(of: directory)
    }

    package func checkDirectories(in directory: String, where isChecked: (String) -> Bool) throws {
        try before(.contents, directory)
        try real.checkDirectories(in: directory, where: isChecked)
    }

    package func createFile(_ path: String) throws -> OpenFile {
        try before(.createFile, path)
        return try real.createFile(path)
    }

    package func openFile(_ path: String) throws -> OpenFile {
        try before(.openFile, path)
        return try real.openFile(path)
    }

    package func openFileForAppending(_ path: String) throws -> OpenFile {
        try before(.openFileForAppending, path)
        return try real.openFileForAppending(path)
    }

    package func makePrivate(_ path: String) throws {
        try before(.makePrivate, path)
        try real.makePrivate(path)
    }

    package func write(_ data: Data, to file: OpenFile) throws {
        try before(.write, file.path)
        try real.write(data, to: file)
        written.add(data.count, ordering: .relaxed)
    }

    package func read(_ file: OpenFile, at offset: Int, count: Int) throws -> Data {
        try before(.read, file.path)
        return try real.read(file, at: offset, count: count)
    }

    package func length(of file: OpenFile) throws -> Int {
        try before(.length, file.path)
        return try real.length(of: file)
    }

    package func truncate(_ file: OpenFile, to length: Int) throws {
        try before(.truncate, file.path)
        try real.truncate(file, to: length)
    }

    package func synchronize(_ file: OpenFile) throws {
        try before(.synchronize, file.path)
        try real.synchronize(file)
    }

    package func rename(_ source: String, to destination: String) throws {
        try before(.rename, source)
        try real.rename(source, to: destination)
    }

    package func removeFile(_ path: String) throws {
        try before(.removeFile, path)
        try real.removeFile(path)
    }

    package func removeDirectory(_ path: String) throws {
        try before(.removeDirectory, path)
        try real.removeDirectory(path)
    }

    package func lock(_ path: String) throws -> OpenFile? {
        try before(.lock, path)
        return try real.lock(path)
    }

    package func openLockFile(_ path: String) throws -> OpenFile {
        try before(.lock, path)
        return try real.openLockFile(path)
    }

    package func lock(_ file: OpenFile, byte: UInt64) throws -> Bool {
        try before(.lock, file.path)
        return try real.lock(file, byte: byte)
    }

    package func unlock(_ file: OpenFile, byte: UInt64) throws {
        try before(.lock, file.path)
        try real.unlock(file, byte: byte)
    }

    package func waitForLock(_ path: String) throws -> OpenFile {
        try before(.lock, path)
        return try real.waitForLock(path)
    }

    package func identity(of path: String) throws -> FileIdentity? {
        try before(.identity, path)
        return try real.identity(of: path)
    }

    package func identity(of file: OpenFile) throws -> FileIdentity {
        try before(.identity, file.path)
        return try real.identity(of: file)
    }

    package func synchronizeDirectory(_ path: String) throws {
        try before(.synchronizeDirectory, path)
        try real.synchronizeDirectory(path)
    }

    package func link(_ source: String, as destination: String) throws {
        try before(.link, destination)
        try real.link(source, as: destination)
    }

    package func status(of path: String) throws -> FileStatus? {
        try before(.status, path)
        return try real.status(of: path)
    }

    package func freeSpace(at path: String) throws -> Int {
        try before(.freeSpace, path)
        return try real.freeSpace(at: path)
    }
}
