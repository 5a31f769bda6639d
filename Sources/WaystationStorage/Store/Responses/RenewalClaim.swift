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
    private let lock: (locks: RenewalLocks, byte: UInt64)?
    private let store: ResponseStore

    fileprivate init(_ lock: (RenewalLocks, UInt64)?, _ store: ResponseStore) {
        self.lock = lock
        self.store = store
    }

    deinit {
        guard let lock else { return }
        store.enqueue { lock.locks.release(lock.byte) }
    }
}

/// The locks of one store on bytes of `renewals.lock`.
///
/// They share an open file, so that many renewals at a time do not use up the descriptors of the process.
final class RenewalLocks: Sendable {
    private struct State {
        var file: OpenFile?
        /// The bytes that are locked: the system would give the same open file a lock once more.
        var held: Set<UInt64> = []
    }

    private let path: String
    private let files: any FileSystem
    private let state = Mutex(State())

    init(_ path: String, _ files: any FileSystem) {
        self.path = path
        self.files = files
    }

    /// Takes the lock on a byte.
    ///
    /// Call it on the store's read queue.
    ///
    /// - Returns: False if the lock has a holder, in this store or in another one.
    fileprivate func take(_ byte: UInt64) throws -> Bool {
        guard state.withLock({ $0.held.insert(byte).inserted }) else { return false }
        var isTaken = false
        defer { if !isTaken { state.withLock { _ = $0.held.remove(byte) } } }
        isTaken = try files.lock(opened(), byte: byte)
        return isTaken
    }

    private func opened() throws -> OpenFile {
        if let file = state.withLock(\.file) { return file }
        let file = try files.openLockFile(path)
        state.withLock { $0.file = file }
        return file
    }

    fileprivate func release(_ byte: UInt64) {
        // A lock that cannot be released ends with the store's file.
        if let file = state.withLock(\.file) { try? files.unlock(file, byte: byte) }
        state.withLock { _ = $0.held.remove(byte) }
    }
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
            guard let locks = opened()?.renewals else { return completion(RenewalClaim(nil, self)) }
            do {
                let byte = Self.renewalPlace(of: key, vary)
                completion(try locks.take(byte) ? RenewalClaim((locks, byte), self) : nil)
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
