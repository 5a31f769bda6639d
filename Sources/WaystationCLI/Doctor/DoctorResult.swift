/// All findings of the doctor.
struct DoctorResult: CommandResult {
    let checks: [Finding]
    /// The number of checks that failed.
    let failed: Int

    init(_ checks: [Finding]) {
        self.checks = checks
        failed = checks.count { $0.state == .failed }
    }

    var text: String {
        let states: [Finding.State: String] = [.notCurable: "not curable"]
        let rows = checks.map { check in
            let document = check.document.map { " (\($0))" } ?? ""
            return [states[check.state] ?? check.state.rawValue, check.name, check.detail.printable + document]
        }
        let advice = checks.compactMap { check in check.advice.map { "\(check.name): \($0)".printable } }
        let summary =
            switch failed {
            case 0: "nothing must be done"
            case 1: "1 check failed"
            default: "\(failed) checks failed"
            }
        return
            ([Words.table(rows)] + (advice.isEmpty ? [] : ["", "advice:"] + advice.map { "  \($0)" })
            + ["", summary]).joined(separator: "\n")
    }
}
