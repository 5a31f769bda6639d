import Foundation
@_spi(Processes) import Measuring
import Synchronization
import WaystationProcesses
import WaystationTestSupport
import WaystationTesting

/// An origin that digests the bodies it receives, and the files that are sent to it.
final class Trial: Sendable {
    /// The redirects, refusals or failures that a request meets before its final answer.
    enum Way: String, CaseIterable {
        case plain, temporary, permanent, secret, dropped

        /// How many times the body is sent.
        var exchanges: Int { self == .plain ? 1 : 2 }

        /// Foundation sends uploads itself: it sends them again with credentials, but not after a redirect.
        ///
        /// When a connection is dropped, only an idempotent request is sent again.
        func isPossible(for form: Sending.Form, _ method: String) -> Bool {
            form.isUpload ? self == .plain || self == .secret : self != .dropped || method == "PUT"
        }
    }

    struct Result {
        var line: String
        var isGood: Bool
    }

    /// The memory that a process may use for a large body in addition to that for a small one, in MiB.
    private static let memoryLimit = 32.0

    private let origin: ScriptedOrigin
    private let folder: ScratchDirectory
    private let small: URL
    private let large: URL
    /// The SHA-256 of the large file, in hexadecimal digits.
    private let digest: String

    init(mebibytes: Int) throws {
        let isDropped = Atomic(false)
        origin = try ScriptedOrigin(digestsBodies: true) { request in
            switch request.path {
            case "/temporary": .redirect(307, to: "/there")
            case "/permanent": .redirect(308, to: "/there")
            case "/secret" where request.value(of: "Authorization") == nil:
                .status(401, fields: ["WWW-Authenticate": "Basic realm=\"here\""])
            case "/dropped" where isDropped.logicalXor(true, ordering: .relaxed).newValue: .closed
            default: .ok("got it")
            }
        }
        folder = try ScratchDirectory()
        small = folder.url.appending(path: "small")
        large = folder.url.appending(path: "large")
        try Pattern.body(0, count: 64 << 10).write(to: small)
        _ = FileManager.default.createFile(atPath: large.path, contents: nil)
        let file = try FileHandle(forWritingTo: large)
        for number in 1...mebibytes {
            try file.write(contentsOf: Pattern.body(number, count: 1 << 20))
        }
        try file.close()
        let sum = try SpawnedProcess.run("/usr/bin/sha256sum", [large.path])
        digest = String(decoding: sum.output.prefix(64), as: UTF8.self)
    }

    func run(_ form: Sending.Form, _ method: String, _ way: Way) throws -> Result {
        let home = try ScratchDirectory()
        let before = origin.requestCount
        let clock = ContinuousClock()
        let start = clock.now
        let child = try ChildProcess.run(
            ["--send", form.rawValue, method, origin.url("/\(way)").absoluteString, small.path, large.path],
            home: home.url,
            limit: 300
        )
        let seconds = start.duration(to: clock.now) / .seconds(1)
        let sent = origin.requests.dropFirst(before + way.exchanges)
        let arrived =
            sent.count == way.exchanges
            && sent.allSatisfy {
                $0.bodyDigest?.map { String(format: "%02x", $0) }.joined() == digest && $0.method == method
            }
        let output = String(decoding: child.output, as: UTF8.self).trimmingCharacters(in: .newlines)
        let memory = Double(output) ?? .nan
        let isFlat = !form.isFlat || memory < Self.memoryLimit
        let isGood = child.ending == .exited(0) && arrived && isFlat
        let name = "\(form) \(method) \(way)".padding(toLength: 32, withPad: " ", startingAt: 0)
        let verdict =
            isGood ? "unharmed" : "FAILED: \(child.ending), \(sent.map(\.bodyLength)) bytes, \(child.complaint)"
        return Result(
            line: name + String(format: "%7.1f MiB of memory  %5.1f s  ", memory, seconds) + verdict,
            isGood: isGood
        )
    }
}
