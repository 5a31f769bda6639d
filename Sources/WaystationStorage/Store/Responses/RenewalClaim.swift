import Foundation
import HTTPTypes
import Synchronization
package import WaystationHTTP

/// The right to renew a stored response in the background, which one holder at a time has among all processes that share a
/// directory.
///
/// It is a lock of one byte of the file `renewals.lock`, whose place in the file follows from the key. The system releases
/// the lock with the process that has it, however that ends, so a kill leaves nothing behind. The file stays empty: a byte
/// that does not exist can be locked all the same.
///
/// The right ends when this object is released, and then not before everything is written that was handed to the store until
/// then: the next holder finds the response that was renewed.
package final class RenewalClaim: Sendable {
    private let lock: OpenFile?
    private let store: ResponseStore

    fileprivate init(_ lock: OpenFile?, _ store: ResponseStore) {
        self.lock = lock
        self.store = store
    }

    deinit { store.enqueue { [lock] in withExtendedLifetime(lock) {} } }
}

extension ResponseStore {
    /// Claims the right to renew a response.
    ///
    /// If the file cannot be made or locked, the right is given all the same: then two processes may renew at once, which is
    /// better than none.
    ///
    /// - Parameters:
    ///   - key: The key of the response.
    ///   - vary: The request fields that selected it: each variant is renewed by itself.
    ///   - completion: Called once, on one of the store's queues, with the right; with nil if another process, or another
    ///     store in this one, has it, and if the disk does not answer.
    package func claimRenewal(
        of key: RequestKey,
        _ vary: VaryKey,
        completion: @escaping @Sendable (RenewalClaim?) -> Void
    ) {
        guard !lookUps.withLock({ $0.isHanging }) else { return completion(nil) }
        readQueue.async { [self] in
            do {
                let byte = Self.renewalPlace(of: key, vary)
                guard let lock = try environment.fileSystem.lock(layout.renewalLock, byte: byte) else {
                    return completion(nil)
                }
                completion(RenewalClaim(lock, self))
            } catch {
                completion(RenewalClaim(nil, self))
            }
        }
    }

    /// The place of a response in the file of locks, which is the same in all processes.
    ///
    /// The responses with one place wait for each other; that is harmless, and about as likely as a wrong digest.
    private static func renewalPlace(of key: RequestKey, _ vary: VaryKey) -> UInt64 {
        var digest = MessageDigest()
        let nominees = vary.nominees.map { "\($0.name.canonicalName):\($0.value ?? "")" }
        // No URL, name or value has a line break.
        digest.update(Data(([key.method, key.url, key.partition] + nominees).joined(separator: "\n").utf8))
        // The place is a signed number of 64 bits.
        return digest.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } >> 2
    }
}
