import Foundation
import ShopServer
import Synchronization
import Testing
import WaystationProcesses

@testable import Login

@Suite("The walk", .timeLimit(.minutes(10)))
struct WalkTests {
    private static var scratch: URL {
        FileManager.default.temporaryDirectory.appending(path: "login-tests-\(UUID().uuidString)")
    }

    /// The program is next to the test bundle.
    private static var executable: URL {
        get throws {
            let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let candidates = [bundle, CommandLine.arguments[0]].map {
                URL(filePath: $0).resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "login")
            }
            return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
        }
    }

    @Test("runs all steps, and prints the requests that the server received in each")
    func whole() async throws {
        let lines = Mutex<[String]>([])
        let scratch = Self.scratch
        defer { try? FileManager.default.removeItem(at: scratch) }
        try await Walk(cache: scratch, patience: 600) { line in lines.withLock { $0.append(line) } }.run()
        let said = lines.withLock { $0 }
        #expect(said.count == 12)
        for (number, line) in said.dropFirst().dropLast().enumerated() {
            #expect(line.hasPrefix("\(number + 1). "))
        }
        #expect(said[2].contains("saw: POST /api/login 200, GET /pages/"))
        #expect(said[6].contains("GET /pages/orders?needAuth=true 401 (cart, theme, token), POST /api/login 200"))
        for number in 7...9 { #expect(said[number].hasSuffix("saw: nothing")) }
    }

    @Test("stops at the first step without the expected result")
    func wrongPassword() async throws {
        let lines = Mutex<[String]>([])
        let scratch = Self.scratch
        defer { try? FileManager.default.removeItem(at: scratch) }
        let walk = Walk(cache: scratch, person: Person(.ada, password: "guess"), patience: 600) { line in
            lines.withLock { $0.append(line) }
        }
        await #expect(throws: URLError.self) { try await walk.run() }
        #expect(lines.withLock { $0.count } == 2)
    }

    @Test("ends the process with 0, or with 1 if nothing can be stored")
    func process() throws {
        let process = try SpawnedProcess(Self.executable.path, ["demo"], output: .lines)
        var last: String?
        while let line = process.readLine() { last = line }
        #expect(last == "every step went as expected")
        #expect(process.wait() == .exited(0))

        let file = Self.scratch
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": file.path]) { $1 }
        let failing = try SpawnedProcess(Self.executable.path, ["demo"], environment: environment)
        #expect(failing.wait() == .exited(1))
    }
}
