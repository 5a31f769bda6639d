import Foundation
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@Suite("Mapped files")
struct MappedSourceTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    @Test(
        "Every range reads the bytes of the file and stops at the file's end",
        arguments: [0, 1, 4_095, 4_096, 4_097, 100_000]
    )
    func ranges(size: Int) throws {
        let data = Data.random(size)
        let source = try MappedSource(scratch.write(data, to: "a"))
        #expect(source.length == size)
        for offset in [-1, 0, 1, size / 2, size - 1, size, size + 1, .max] where offset >= 0 {
            let expected = offset < size ? Data(data[offset...].prefix(5_000)) : Data()
            #expect(try source.read(at: offset, count: min(5_000, max(0, size - min(offset, size)))) == expected)
        }
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(buffer.withUnsafeMutableBytes { source.read(at: -1, into: $0) } == 0)
        #expect(source.withUnsafeBytes { Data($0) } == data)
    }

    @Test("The map outlives the file's name")
    func removed() throws {
        let file = try scratch.write(Data("still here".utf8), to: "a")
        let source = try MappedSource(file)
        try FileManager.default.removeItem(at: file)
        #expect(try source.read(at: 6, count: 4) == Data("here".utf8))
    }

    @Test("Only regular files are mapped")
    func notAFile() throws {
        #expect(throws: FileError.self) { try MappedSource(scratch.url) }
        #expect(throws: FileError.self) { try MappedSource(scratch.url.appending(path: "missing")) }
    }
}
