import Foundation
import Testing

@Suite("The names that `import Waystation` puts into an app")
struct PublicSurfaceTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/Waystation").standardized

    /// The text of each source file.
    private func texts() throws -> [String] {
        let files = try #require(FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }

    /// The public names that the module declares at its top level, without those for measurements.
    private func declared() throws -> Set<String> {
        let declaration =
            /(?m)^(?:public|open) (?:final )?(?:indirect )?(?:struct|class|enum|protocol|actor|typealias|func|let|var) (\w+)/
        return Set(
            try texts().flatMap { text in
                text.matches(of: declaration).filter { !text[..<$0.range.lowerBound].hasSuffix("@_spi(Measuring)\n") }
                    .map { String($0.output.1) }
            }
        )
    }

    /// The names of other modules that the module exports.
    private func exported() throws -> [String] {
        try texts().flatMap { text in
            text.matches(of: /(?m)^@_exported (?:public )?import (?:\w+ )?([\w.]+)$/).map { String($0.output.1) }
        }
    }

    @Test("are at most 60")
    func count() throws {
        let (declared, exported) = (try declared(), try exported())
        #expect(declared.contains("Interceptor"))
        let names = declared.union(exported.compactMap { $0.split(separator: ".").last.map(String.init) })
        #expect(names.count <= 60)
    }

    @Test("never include a whole module of the library")
    func wholeModules() throws {
        let exported = try exported()
        #expect(exported.contains("WaystationStorage.ByteCount"))
        #expect(exported.allSatisfy { $0.contains(".") })
    }
}
