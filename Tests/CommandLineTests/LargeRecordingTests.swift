import Foundation
import Testing
import WaystationProcesses

@Suite("waystation cache import of a large file")
struct LargeRecordingTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Writes a HAR with so many entries, each with a body of 1 MiB in Base64.
    private func write(_ count: Int, to name: String) throws {
        let file = tool.folder.appending(path: name)
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        let handle = try FileHandle(forWritingTo: file)
        let body = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        let text = body.base64EncodedString()
        try handle.write(contentsOf: Data(#"{"log": {"version": "1.2", "entries": ["#.utf8))
        for number in 0..<count {
            let entry = #"""
                \#(number > 0 ? "," : "")
                {"request": {"method": "GET", "url": "https://shop.example/\#(number)"},
                 "response": {"status": 200, "content": {"size": \#(body.count), "encoding": "base64", "text": "\#(text)"}}}
                """#
            try handle.write(contentsOf: Data(entry.utf8))
        }
        try handle.write(contentsOf: Data("]}}".utf8))
        try handle.close()
    }

    /// The most memory of the tool while it imports a file, in MiB.
    private func peak(_ name: String) throws -> Int {
        let program = """
            import resource, subprocess, sys
            outcome = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
            print(outcome.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
            """
        let arguments = ["-c", program, Tool.executable.path, "cache", "import", name, "--in", "http-\(name)"]
        let outcome = try SpawnedProcess.run("/usr/bin/python3", arguments, in: tool.folder, limit: 600)
        let numbers = String(decoding: outcome.output, as: UTF8.self).split { !$0.isNumber }.compactMap { Int($0) }
        try #require(numbers.count == 2 && numbers[0] == 0, "\(String(decoding: outcome.errors, as: UTF8.self))")
        return numbers[1]
    }

    @Test("takes no more memory than that of a small one, but for some entries")
    func memory() throws {
        try write(2, to: "small.har")
        try write(100, to: "large.har")
        let (small, large) = (try peak("small.har"), try peak("large.har"))
        // The large file has 135 MiB.
        #expect(large - small < 64, "\(small) MiB and \(large) MiB")
    }
}
