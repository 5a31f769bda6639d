import Synchronization
import WaystationArchive

/// The progress that an extraction reported.
final class ProgressLog: Sendable {
    private let reports = Mutex<[ExtractionProgress]>([])

    func note(_ progress: ExtractionProgress) { reports.withLock { $0.append(progress) } }

    var paths: [String] { reports.withLock { $0.map(\.path) } }
    var last: ExtractionProgress? { reports.withLock { $0.last } }
}
