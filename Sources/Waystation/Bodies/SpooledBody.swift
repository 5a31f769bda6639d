import Dispatch
import Foundation
import Synchronization
import WaystationFileSystem

/// The bytes of a body in an open file that has no name any more.
///
/// They can be read while the body is still being written. The file disappears when its last reader is gone.
package final class SpooledBody: Sendable {
    private struct State {
        /// The length of the whole body; nil as long as it is not known.
        var length: Int?
        var written = 0
        /// The number of bytes that a reader has got; those of a later reader of the same bytes do not count again.
        var taken = 0
        /// The reason why the rest will never be written.
        var failure: (any Error)?
        /// Work of readers that have all bytes so far.
        var readers: [@Sendable () -> Void] = []
        /// Work that needs the whole body.
        var waiting: [@Sendable () -> Void] = []
        /// Work of the writer, which waits for readers.
        var writers: [@Sendable () -> Void] = []

        var isWhole: Bool { written == length }
        var isOver: Bool { isWhole || failure != nil }

        /// Takes the work that need not wait any longer.
        mutating func takeDue(hasNewBytes: Bool) -> [@Sendable () -> Void] {
            var due: [@Sendable () -> Void] = []
            if mayWrite {
                due += writers
                writers = []
            }
            if hasNewBytes || isOver {
                due += readers
                readers = []
            }
            if isOver {
                due += waiting
                waiting = []
            }
            return due
        }

        var mayWrite: Bool { isOver || !waiting.isEmpty || written - taken <= SpooledBody.lead }
    }

    /// How far the writer may be ahead of the readers, in bytes, before it waits for them.
    private static let lead = 1 << 20

    private let file: OpenFile
    private let fileSystem: any FileSystem
    private let state: Mutex<State>

    init(_ file: OpenFile, _ fileSystem: any FileSystem) {
        self.file = file
        self.fileSystem = fileSystem
        state = Mutex(State())
    }

    // MARK: - Writing

    /// Appends bytes; only one thread at a time may write.
    func append(_ part: Data) throws {
        try fileSystem.write(part, to: file)
        change(hasNewBytes: !part.isEmpty) { $0.written += part.count }
    }

    /// Sets the length that the whole body will have, in bytes.
    func expect(length: Int) { change { $0.length = length } }

    /// The bytes so far are the whole body, unless another length is expected.
    func end() { change { $0.length = $0.length ?? $0.written } }

    /// Reads of the rest fail from now on, unless the body is whole.
    package func stop(_ error: any Error) { change { if !$0.isWhole { $0.failure = error } } }

    /// Runs work as soon as the readers have most of the bytes so far: at once or later, on any thread.
    package func whenTaken(_ work: @escaping @Sendable () -> Void) { change { $0.writers.append(work) } }

    // MARK: - Reading

    /// The length of the whole body, in bytes; the number of bytes so far if it is not known yet.
    var length: Int { state.withLock { $0.length ?? $0.written } }

    var isWhole: Bool { state.withLock(\.isWhole) }

    /// Reads up to `count` bytes at an offset; waits for bytes that are not yet written, and returns none at the end.
    func read(at offset: Int, count: Int) throws -> Data {
        let written = try waitForBytes(at: offset)
        let data = try fileSystem.read(file, at: offset, count: min(count, written - offset))
        guard !data.isEmpty || offset >= written else { throw FileError("read", file.path, code: EIO) }
        change { $0.taken = max($0.taken, offset + data.count) }
        return data
    }

    /// Waits until there are bytes at an offset, or the body has ended there.
    ///
    /// - Returns: The number of bytes so far.
    private func waitForBytes(at offset: Int) throws -> Int {
        let semaphore = DispatchSemaphore(value: 0)
        whenReadable(at: offset) { semaphore.signal() }
        semaphore.wait()
        return try state.withLock { state in
            if let failure = state.failure, offset >= state.written { throw failure }
            return state.written
        }
    }

    /// Runs work as soon as there are bytes at an offset, or none will follow: at once or later, on any thread.
    func whenReadable(at offset: Int, _ work: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            guard state.written <= offset, !state.isOver else { return false }
            state.readers.append(work)
            return true
        }
        if !waits { work() }
    }

    /// Runs work as soon as the whole body is there, or will never be: at once or later, on any thread.
    func whenWhole(_ work: @escaping @Sendable () -> Void) { change { $0.waiting.append(work) } }

    private func change(hasNewBytes: Bool = false, _ body: (inout State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            return state.takeDue(hasNewBytes: hasNewBytes)
        }
        for work in due { work() }
    }
}
