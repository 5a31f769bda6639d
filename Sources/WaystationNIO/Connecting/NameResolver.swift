#if NIO
import Foundation
import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Looks up the addresses of one name, for one connect.
///
/// NIO's own resolver performs all look-ups of an event loop one after the other, so that one name server that does not
/// answer would hold up the connects to all hosts. This one performs 64 at a time.
final class NameResolver: Resolver, Sendable {
    typealias LookUp = @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

    /// The reason why a name has no address.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// A look-up blocks its thread, sometimes for many seconds.
    private static let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.name = "waystation.nio.names"
        queue.maxConcurrentOperationCount = 64
        return queue
    }()

    private let lookUp: LookUp
    private let four: EventLoopPromise<[SocketAddress]>
    private let six: EventLoopPromise<[SocketAddress]>
    private let isGivenUp = Atomic(false)

    init(loop: any EventLoop, lookUp: @escaping LookUp = NameResolver.addresses) {
        self.lookUp = lookUp
        four = loop.makePromise()
        six = loop.makePromise()
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { four.futureResult }

    /// Starts the look-up of both kinds of addresses; it is called once, and always before `initiateAQuery` matters.
    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        Self.queue.addOperation {
            do {
                // A look-up that no connection waits for any more ends here, so that the next one can begin.
                guard !self.isGivenUp.load(ordering: .relaxed) else { throw Failure(description: "given up") }
                let addresses = try self.lookUp(host, port)
                self.six.succeed(addresses.filter { $0.protocol == .inet6 })
                self.four.succeed(addresses.filter { $0.protocol == .inet })
            } catch {
                self.six.fail(error)
                self.four.fail(error)
            }
        }
        return six.futureResult
    }

    func cancelQueries() { isGivenUp.store(true, ordering: .relaxed) }

    /// Asks the system for the addresses of a name, in the order of preference.
    @Sendable static func addresses(host: String, port: Int) throws -> [SocketAddress] {
        var list: UnsafeMutablePointer<addrinfo>?
        errno = 0
        let code = getaddrinfo(host, nil, nil, &list)
        let cause = errno
        defer { if let list { freeaddrinfo(list) } }
        // Without a descriptor, the system cannot ask, and says that the name is not known or to try again.
        if code != 0, cause == EMFILE || cause == ENFILE { throw IOError(errnoCode: cause, reason: "getaddrinfo") }
        guard code == 0 else { throw Failure(description: String(cString: gai_strerror(code))) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let named = getnameinfo(
                entry.pointee.ai_addr,
                entry.pointee.ai_addrlen,
                &text,
                socklen_t(text.count),
                nil,
                0,
                NI_NUMERICHOST
            )
            let number = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard named == 0, let address = try? SocketAddress(ipAddress: number, port: port) else { continue }
            // The list of the system has each address once for each type of socket.
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}

/// An IPv4 or IPv6 address that is written in numbers.
struct NumericAddress: Equatable {
    /// The address in network order, as certificates carry it: 4 or 16 bytes.
    var bytes: [UInt8]

    /// Nil if the text is a name and not an address.
    init?(_ text: String) {
        var buffer = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &buffer) == 1 {
            bytes = Array(buffer.prefix(4))
        } else if inet_pton(AF_INET6, text, &buffer) == 1 {
            bytes = buffer
        } else {
            return nil
        }
    }

    /// The text of an address in network order; nil if it has neither 4 nor 16 bytes.
    static func text(of bytes: [UInt8]) -> String? {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
#endif
