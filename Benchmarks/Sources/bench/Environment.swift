import Foundation
import Measuring

/// The machine on which the numbers were measured.
enum Environment {
    static var line: String {
        let process = ProcessInfo.processInfo
        let facts = [
            "\"cpu\":\"\(cpu)\"",
            "\"cores\":\(process.activeProcessorCount)",
            "\"memory-GiB\":\(process.physicalMemory >> 30)",
            "\"system\":\"\(process.operatingSystemVersionString)\"",
            "\"load\":\"\(load)\"",
            "\"build\":\"\(build)\"",
            "\"waystation\":\(InterceptedSession.isInstalled)",
        ]
        return "{\"environment\":{\(facts.joined(separator: ","))}}"
    }

    private static var cpu: String {
        let lines = read("/proc/cpuinfo").split(separator: "\n")
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last ?? "unknown"
        return model.trimmingCharacters(in: .whitespaces).replacingOccurrences(of: "\"", with: "")
    }

    /// The load averages: numbers measured on a busy machine are not reliable.
    private static var load: String { read("/proc/loadavg").split(separator: " ").prefix(3).joined(separator: " ") }

    private static var build: String {
        #if DEBUG
        "debug"
        #else
        "release"
        #endif
    }

    private static func read(_ path: String) -> String {
        let data = try? FileHandle(forReadingAtPath: path)?.readToEnd()
        return String(decoding: data.flatMap(\.self) ?? Data(), as: UTF8.self)
    }
}
