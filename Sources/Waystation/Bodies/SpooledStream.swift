import Foundation
import Synchronization
import WaystationFileSystem
import WaystationTransport

/// A stream that reads a spooled body once from its beginning.
///
/// A request keeps the stream that it was given, and ``rewound`` makes a fresh one from it. A read waits for bytes that
/// have not arrived yet. Foundation reads the stream on the queue that all sessions share, and gets it only if it
/// ``isWhole``: a read then takes bytes from a local file and never waits.
final class SpooledStream: InputStream, RewindableStream {
    private struct State {
        var offset = 0
        var status = Stream.Status.notOpen
        var error: (any Error)?
    }

    private let body: SpooledBody
    private let state = Mutex(State())

    init(_ body: SpooledBody) {
        self.body = body
        super.init(data: Data())
    }

    var rewound: InputStream { SpooledStream(body) }

    var length: Int { body.length }

    var isWhole: Bool { body.isWhole }

    func whenReadable(_ work: @escaping @Sendable () -> Void) {
        body.whenReadable(at: state.withLock(\.offset), work)
    }

    func whenWhole(_ work: @escaping @Sendable () -> Void) { body.whenWhole(work) }

    override func open() { state.withLock { if $0.status == .notOpen { $0.status = .open } } }

    override func close() { state.withLock { $0.status = .closed } }

    override var streamStatus: Stream.Status { state.withLock { $0.status } }

    override var streamError: (any Error)? { state.withLock { $0.error } }

    override var hasBytesAvailable: Bool { state.withLock { $0.offset < body.length && $0.status == .open } }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        let (status, offset) = state.withLock { ($0.status, $0.offset) }
        // A stream without an error ends with 0 bytes, as often as it is read.
        guard status == .open else { return status == .atEnd ? 0 : -1 }
        do {
            let data = try body.read(at: offset, count: length)
            data.copyBytes(to: buffer, count: data.count)
            state.withLock { state in
                state.offset += data.count
                if state.offset >= body.length { state.status = .atEnd }
            }
            return data.count
        } catch {
            state.withLock { state in
                state.status = .error
                state.error = error
            }
            return -1
        }
    }
}
