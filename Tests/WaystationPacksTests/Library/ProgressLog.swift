import Synchronization
import WaystationArchive

/// What was told of an extraction.
final class ProgressLog: Sendable {
    private let reports = Mutex<[ExtractionProgress]>([])

    func note(_ progress: ExtractionProgress) { reports.withLock { $0.append(progress) } }

    var paths: [String] { reports.withLock { $0.map(\.path) } }
    var last: ExtractionProgress? { reports.withLock { $0.last } }
}
