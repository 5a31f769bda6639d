import Foundation
import Measuring

/// How the loads of a run ended.
struct Tally {
    private(set) var answered = 0
    private(set) var cancelled = 0
    private(set) var hung = 0
    private(set) var failures: [Int: Int] = [:]
    private var kinds: [String: (loads: Int, answered: Int)] = [:]
    private(set) var wrong: [String] = []
    private(set) var sound = 0

    /// Adds the end of a hostile response.
    mutating func add(_ number: Int, kind: String, mayTimeOut: Bool, _ sighting: Client.Sighting) {
        kinds[kind, default: (0, 0)].loads += 1
        if sighting.error == nil { kinds[kind]?.answered += 1 }
        if let complaint = sighting.wrong { wrong.append("\(number) (\(kind)): \(complaint)") }
        switch sighting.error?.code {
        case nil:
            answered += 1
            if sighting.status == nil { wrong.append("\(number) (\(kind)): neither a response nor an error") }
        case .cancelled: cancelled += 1
        case .timedOut where !mayTimeOut:
            hung += 1
            // The server has closed the connection, so the load should have ended at once.
            wrong.append("\(number) (\(kind)): it hung until its time-out")
        case let code?: failures[code.rawValue, default: 0] += 1
        }
    }

    /// Adds the end of a sound response.
    mutating func addSound(_ number: Int, _ version: Version, _ sighting: Client.Sighting) {
        sound += 1
        guard sighting.error != nil || sighting.body != Answer.soundBody(number) else { return }
        let error = sighting.error.map { "\($0.code.rawValue) \($0.localizedDescription)" } ?? "\(sighting.count) bytes"
        wrong.append("the sound response after \(number) by \(version): \(error)")
    }

    /// How many loads ended in which way.
    var summary: String {
        "\(answered) answered, \(failures.values.reduce(0, +)) failed, \(cancelled) cancelled, \(hung) hung, "
            + "\(sound) sound ones between them"
    }

    var lines: [String] {
        let codes = failures.sorted { $0.key > $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        let groups = kinds.sorted { $0.key < $1.key }
            .map { "\($0.key) \($0.value.answered) of \($0.value.loads)" }
        return ["answered: \(groups.joined(separator: ", "))", "failure codes: \(codes)"]
            + wrong.prefix(20).map { "WRONG \($0)" }
    }
}
