import Foundation
import Synchronization
import WaystationTestSupport

/// Measures a directory again and again on a thread of its own, and keeps the largest size.
final class Sampler: Sendable {
    private let path: String
    private let peak = Mutex(0)
    private let hasEnded = Atomic(false)

    init(_ directory: URL) {
        path = directory.path
        Thread.detachNewThread { [self] in
            while !hasEnded.load(ordering: .relaxed) {
                sample()
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    /// Measures the directory now.
    @discardableResult
    func sample() -> Int {
        let size = DiskUsage.bytes(of: path)
        peak.withLock { $0 = max($0, size) }
        return size
    }

    /// Stops measuring.
    ///
    /// - Returns: The largest size.
    func end() -> Int {
        hasEnded.store(true, ordering: .relaxed)
        return peak.withLock(\.self)
    }
}
