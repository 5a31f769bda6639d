import Foundation
import Logging
import Testing
import Waystation
import WaystationPacks

@Suite("The article about errors")
struct ErrorCodesTests {
    /// A public error, and the codes that its file declares, each with its documentation comment.
    private struct Declared {
        let name: String
        let codes: [(code: String, meaning: String)]
    }

    private static func declared() throws -> [Declared] {
        try Documents.files(below: ["Sources"]).filter { $0.pathExtension == "swift" }.flatMap { file in
            let text = try String(contentsOf: file, encoding: .utf8)
            let codes = text.matches(of: /(?m)((?:^ *\/\/\/.*\n)+) *public static let \w+ = (?:Code|Self)\((.*)\)$/)
                .map { match in
                    let meaning = match.output.1.split(separator: "\n")
                        .map { $0.drop { $0 == " " || $0 == "/" } }.filter { !$0.isEmpty }.joined(separator: " ")
                        .replacing(/``(?:\w+\/)*(\w+)``/) { "`\($0.output.1)`" }
                    let code = match.output.2.replacing(#/^\w+: /#, with: "").trimmingCharacters(in: ["\"", "."])
                    return (code, meaning)
                }
            return text.matches(of: /(?m)^public struct (\w+): CodedError/).map {
                Declared(name: String($0.output.1), codes: codes)
            }
        }
    }

    @Test("lists every public error, and every code with the sentences of its comment")
    func list() throws {
        let article = try Documents.article("Errors")
        let errors = try Self.declared()
        #expect(errors.count == 17)
        for error in errors {
            let section = try #require(
                article.text.firstRange(of: try Regex("``?\(error.name)``? of `")),
                "\(error.name) is not in the article"
            )
            let rows = article.text[section.upperBound...].split(separator: "\n").dropFirst()
                .prefix { !$0.hasPrefix("#") && !$0.hasPrefix("`") }.dropFirst(2).map(String.init)
            #expect(rows == error.codes.map { "| `\($0.code)` | \($0.meaning) |" }, "\(error.name)")
        }
    }

    @Test("is right that the message of an error is its localized description")
    func messages() throws {
        let error = #expect(throws: WaystationError.self) {
            try Interceptor { $0.rules = [.allow("https:/shop.example/", via: .network)] }
        }
        #expect((error as (any Error)?)?.localizedDescription == error?.message)
        #expect(error?.cause is any CodedError)
        #expect(error?.cause?.localizedDescription.contains("expected `://` after the scheme") == true)
    }

    private func prepare(
        _ logger: Logger,
        _ prepare: () async throws -> Void,
        _ askForSpace: () async -> Void
    ) async throws {
        // snippet: errors
        do {
            try await prepare()  // opens the cache, installs the packs
        } catch let error as PackError where error.code == .noSpace {
            await askForSpace()
        } catch let error as any CodedError {
            logger.error("\(error.message)", metadata: ["code": "\(error.code)"])
        }
        // end snippet
    }
}
