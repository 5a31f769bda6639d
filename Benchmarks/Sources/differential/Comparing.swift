import Foundation
import Measuring

/// The result of all rows.
struct Summary: Sendable {
    let rows: [Row]

    var isExpected: Bool { rows.allSatisfy(\.isExpected) }

    var summary: String {
        let equal = rows.count(where: \.isEqual)
        let failed = rows.count { !$0.isExpected }
        let hangs = rows.reduce(0) { $0 + $1.count(of: .hangs) }
        let crashes = rows.reduce(0) { $0 + $1.count(of: .crashes) }
        let line =
            "differential: \(rows.count) scenarios, \(equal) equal, \(rows.count - equal - failed) argued, "
            + "\(hangs) hangs, \(crashes) crashes"
        return failed == 0 ? line : "\(line), \(failed) FAILED"
    }
}

/// Runs the scenarios, several at a time, and prints their rows in their order as soon as possible.
func compare(_ scenarios: [Scenario], variants: [Variant], jobs: Int) async throws -> Summary {
    let children = try Children()
    return try await withThrowingTaskGroup(of: (Int, Row).self) { group in
        var rows = [Row?](repeating: nil, count: scenarios.count)
        var started = 0
        var printed = 0
        func start() {
            guard started < scenarios.count else { return }
            let number = started
            started += 1
            group.addTask { (number, try await row(scenarios[number], variants: variants, by: children)) }
        }
        for _ in 0..<max(jobs, 1) { start() }
        while let (number, row) = try await group.next() {
            rows[number] = row
            start()
            while printed < rows.count, let next = rows[printed] {
                say(next.text)
                printed += 1
            }
        }
        return Summary(rows: rows.compactMap(\.self))
    }
}

/// Runs on a thread outside Swift's own pool, because waiting for processes blocks.
private func row(_ scenario: Scenario, variants: [Variant], by children: Children) async throws -> Row {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Result { try Row(scenario, variants: variants, by: children) })
        }
    }
}
