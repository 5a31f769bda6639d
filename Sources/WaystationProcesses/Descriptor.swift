import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file descriptor that no other program inherits.
///
/// It is closed with its last reference at the latest.
package final class Descriptor: Sendable {
    package let number: CInt
    private let isOpen = Mutex(true)

    package init(_ number: CInt) { self.number = number }

    deinit { close() }

    package static func pipe() throws -> (reading: Descriptor, writing: Descriptor) {
        var numbers: [CInt] = [0, 0]
        guard Glibc.pipe(&numbers) == 0 else {
            throw SpawnedProcessFailure("cannot make a pipe: \(String(cString: strerror(errno)))")
        }
        for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        return (Descriptor(numbers[0]), Descriptor(numbers[1]))
    }

    /// Two connected sockets.
    package static func socketPair() throws -> (Descriptor, Descriptor) {
        var numbers: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &numbers) == 0 else {
            throw SpawnedProcessFailure("cannot make a pair of sockets: \(String(cString: strerror(errno)))")
        }
        return (Descriptor(numbers[0]), Descriptor(numbers[1]))
    }

    package func close() {
        isOpen.withLock { isOpen in
            if isOpen { _ = Glibc.close(number) }
            isOpen = false
        }
    }

    /// Writes bytes, unless the descriptor is closed: its number may be that of another file then.
    package func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty, isOpen.withLock(\.self) {
            let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest.removeFirst(count)
        }
    }

    package func readByte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(number, &byte, 1)
            if count == 1 { return byte }
            guard count < 0, errno == EINTR else { return nil }
        }
    }
}
