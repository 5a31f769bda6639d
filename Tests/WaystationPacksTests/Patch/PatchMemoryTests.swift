import Foundation
import Testing
import WaystationStorage

@testable import WaystationPacks

@Suite("The memory of applying a patch")
struct PatchMemoryTests {
    @Test("does not grow with the files: it consists of three decoders and the buffers")
    func isFlat() async {
        // A separate process, so that its peak is that of the patch alone.
        await #expect(processExitsWith: .success) {
            let size = 24 << 20
            let patch = try RawPatch(
                [(size, 0, 0), (0, size, 0)],
                diff: Data(count: size),
                extra: Data(count: size),
                newSize: 2 * size
            ).encoded()
            let before = try PatchMemoryTests.resetPeak()
            var count = 0
            try BSDiffPatch(DataSource(patch)).apply(to: Zeros(length: size)) { count += $0.count }
            let growth = try PatchMemoryTests.peak() - before
            #expect(count == 2 * size)
            #expect(growth < 16 << 10, "\(growth) KiB")
        }
    }

    /// Resets the peak; returns it, in KiB.
    private static func resetPeak() throws -> Int {
        try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        return try peak()
    }

    private static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(separator: " ").dropLast().last ?? ""))
    }
}

/// Zero bytes that take no memory.
private struct Zeros: ByteSource {
    let length: Int

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = max(0, min(buffer.count, length - offset))
        UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]).initializeMemory(as: UInt8.self, repeating: 0)
        return count
    }
}
