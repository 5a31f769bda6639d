#if Redis
import WaystationSharing

/// The answers of sentinels to one question for the primary: decides when they suffice, and which one counts.
///
/// A sentinel that was cut off from the others may still name a primary that was replaced. So the answer with the
/// greatest number counts, and none with a lower number than the present primary has, unless most sentinels give it:
/// then they were set up anew.
struct SentinelPoll {
    private let count: Int
    private let known: SentinelReport?
    private var reports: [SentinelReport] = []
    private var failures = 0
    private var lastFailure: TierError?
    private var isUrgent = false

    /// - Parameters:
    ///   - count: The number of sentinels that are asked.
    ///   - known: The present knowledge.
    init(of count: Int, knowing known: SentinelReport?) {
        self.count = count
        self.known = known
    }

    /// Takes an answer.
    ///
    /// - Returns: The result of the poll, once it is certain.
    mutating func take(_ answer: Result<SentinelReport, TierError>) -> Result<SentinelReport, TierError>? {
        switch answer {
        case .success(let report): reports.append(report)
        case .failure(let error):
            failures += 1
            lastFailure = error
        }
        if let agreed = reports.first(where: { isMajority($0) && isNewest($0) }) { return .success(agreed) }
        guard reports.count + failures == count || isUrgent else { return nil }
        if let newest { return .success(newest) }
        guard failures == count else { return nil }
        return .failure(lastFailure ?? TierError(.unreachable, "no sentinel answers"))
    }

    /// From now on, the answers of some sentinels suffice: the others have had their time.
    ///
    /// - Returns: The result of the poll, if there is an answer.
    mutating func hurry() -> Result<SentinelReport, TierError>? {
        isUrgent = true
        return newest.map { .success($0) }
    }

    /// The newest answer, or what is known if that is newer.
    private var newest: SentinelReport? {
        guard let newest = reports.max(by: { $0.epoch < $1.epoch }) else { return nil }
        return known.flatMap { newest.epoch < $0.epoch ? $0 : nil } ?? newest
    }

    private func isMajority(_ report: SentinelReport) -> Bool {
        2 * reports.count { $0 == report } > count
    }

    private func isNewest(_ report: SentinelReport) -> Bool { reports.allSatisfy { $0.epoch <= report.epoch } }
}
#endif
