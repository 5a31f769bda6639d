import Foundation
import Testing
import WaystationHTTP
import WaystationProcesses

@testable import SiteTools

/// Compares the encodings with Chromium, which reads and writes all of them but the replacement encoding.
@Suite("Encodings beside Chromium", .enabled(if: FileManager.default.isExecutableFile(atPath: Chromium.path)))
struct EncodingPeerTests {
    private static let encodings = WebEncoding.allCases.filter { $0 != .replacement }

    @Test("all codes and thousands of wrong sequences are read as Chromium reads them")
    func decoding() throws {
        var inputs: [String: [[UInt8]]] = [:]
        for encoding in Self.encodings { inputs[encoding.rawValue] = Self.sequences(in: encoding) }
        let page = """
            const inputs = \(try json(inputs.mapValues { $0.map { Data($0).base64EncodedString() } }));
            const texts = {};
            for (const name in inputs)
                texts[name] = inputs[name].map(text => new TextDecoder(name, {ignoreBOM: true})
                    .decode(Uint8Array.from(atob(text), byte => byte.charCodeAt(0))));
            show(texts);
            """
        let texts: [String: [String]] = try Chromium.run(page)
        for encoding in Self.encodings {
            let inputs = try #require(inputs[encoding.rawValue])
            let texts = try #require(texts[encoding.rawValue])
            #expect(texts.count == inputs.count)
            var differences: [String] = []
            for (input, text) in zip(inputs, texts) {
                let own = input.withUnsafeBufferPointer { encoding.decoded($0) } ?? []
                if !own.elementsEqual(text.utf8) {
                    differences.append("\(input): \(String(decoding: own, as: UTF8.self)), \(text)")
                }
            }
            #expect(differences.isEmpty, "\(encoding): \(differences.prefix(5)) of \(differences.count)")
        }
    }

    @Test("queries of all characters of an encoding, and of others, are written as Chromium writes them")
    func encoding() throws {
        var queries: [String: [String]] = [:]
        for encoding in Self.encodings {
            let characters = Self.characters(of: encoding)
            queries[encoding.rawValue] = stride(from: 0, to: characters.count, by: 101).map { start in
                var query = "a".unicodeScalars
                query.append(contentsOf: characters[start..<min(start + 101, characters.count)])
                query.append("z")
                return String(query)
            }
        }
        let page = """
            const queries = \(try json(queries));
            const written = {};
            for (const name in queries) {
                const frame = document.createElement('iframe');
                frame.src = URL.createObjectURL(new Blob(['<p>'], {type: 'text/html;charset=' + name}));
                await new Promise(resolve => { frame.onload = resolve; document.body.append(frame); });
                const link = frame.contentDocument.createElement('a');
                written[name] = queries[name].map(query => { link.href = 'http://a/?' + query; return link.href; });
                frame.remove();
            }
            show(written);
            """
        let written: [String: [String]] = try Chromium.run(page)
        let base = try #require(CanonicalURL(page: "http://a/"))
        for encoding in Self.encodings {
            let queries = try #require(queries[encoding.rawValue])
            let written = try #require(written[encoding.rawValue])
            #expect(queries.count == written.count)
            var differences: [String] = []
            for (query, url) in zip(queries, written) {
                let own = CanonicalURL("?" + query, relativeTo: base, encoding: encoding)?.string ?? ""
                if own != CanonicalURL(page: url)?.string { differences.append("\(own), \(url)") }
            }
            #expect(differences.isEmpty, "\(encoding): \(differences.prefix(2)) of \(differences.count)")
        }
    }

    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    // MARK: Inputs

    /// All characters that codes of the encoding stand for, and others.
    private static func characters(of encoding: WebEncoding) -> [Unicode.Scalar] {
        let others: [Unicode.Scalar] = [
            "¥", "‾", "−", "｡", "ﾟ", "\u{E5E5}", "\u{E7C7}", "\u{E78D}", "\u{E864}", "\u{10000}", "\u{20087}", "😀",
            "\u{10FFFF}",
        ]
        var found = Set(others).union(stride(from: 0xA0, to: 0x10000, by: 41).compactMap { Unicode.Scalar(UInt32($0)) })
        for bytes in sequences(in: encoding) where bytes.count <= 5 {
            let text = bytes.withUnsafeBufferPointer { encoding.decoded($0) } ?? []
            found.formUnion(String(decoding: text, as: UTF8.self).unicodeScalars)
        }
        return found.filter { $0.value >= 0xA0 }.sorted()
    }

    /// Every byte and every pair of bytes from 0x80 on, every longer code, and sequences at random, without those that
    /// Chromium reads in other ways than the standard says.
    private static func sequences(in encoding: WebEncoding) -> [[UInt8]] {
        let bytes = Array(UInt8.min...UInt8.max)
        var sequences = bytes.map { [$0] }
        var pieces: [[UInt8]] = bytes.map { [$0] }
        switch encoding {
        case .gbk, .gb18030, .big5, .eucJP, .shiftJIS, .eucKR:
            sequences += bytes[0x80...].flatMap { lead in bytes.map { [lead, $0] } }
        case .iso2022JP:
            sequences += (0x21...0x7E).flatMap { lead in (0x21...0x7E).map { [0x1B, 0x24, 0x42, lead, $0] } }
            pieces += ["\u{1B}$B", "\u{1B}$@", "\u{1B}(J", "\u{1B}(I", "\u{1B}(B", "!!", "\\", "~"].map {
                Array($0.utf8)
            }
            pieces += Array(repeating: [0x1B], count: 20)
        case .utf8:
            pieces += ["é", "日", "😀"].map { Array($0.utf8) } + (0xE0...0xF4).map { [$0, 0x80] }
        default:
            break
        }
        if encoding == .gb18030 {
            for pointer in Array(0..<39_430) + [188_999, 189_000, 1_237_575, 1_237_576] {
                sequences.append([
                    UInt8(pointer / 12_600 + 0x81), UInt8(pointer / 1260 % 10 + 0x30), UInt8(pointer / 10 % 126 + 0x81),
                    UInt8(pointer % 10 + 0x30),
                ])
            }
        }
        if encoding == .eucJP {
            sequences += bytes[0x80...].flatMap { row in bytes[0x80...].map { [0x8F, row, $0] } }
        }
        // The bytes that begin or end codes are more frequent.
        pieces += [0x81, 0x8E, 0x8F, 0xA1, 0xD8, 0xDC, 0xE0, 0xFE, 0x80, 0x40, 0x30, 0x39].flatMap {
            Array(repeating: [UInt8($0)], count: 10)
        }
        var random = Random(state: 1)
        for _ in 0..<3000 {
            sequences.append(
                (0..<Int.random(in: 2...12, using: &random)).flatMap { _ in
                    pieces.randomElement(using: &random) ?? []
                }
            )
        }
        return sequences.filter { !isReadOtherwise($0, in: encoding) }
    }

    /// Whether Chromium 156 is known to differ from the standard.
    ///
    /// The tests of `EncodingTests` have these sequences.
    private static func isReadOtherwise(_ bytes: [UInt8], in encoding: WebEncoding) -> Bool {
        switch encoding {
        case .big5:
            // The codes that stand for two characters.
            return zip(bytes, bytes.dropFirst()).contains { $0 == 0x88 && [0x62, 0x64, 0xA3, 0xA5].contains($1) }
        case .eucJP:
            // After a wrong code of JIS X 0212, the next code is looked up there too.
            return bytes.count > 3 && bytes.contains(0x8F)
        case .iso2022JP:
            // Wrong escape sequences whose second byte is right.
            let valid: [[UInt8]] = [[0x24, 0x40], [0x24, 0x42], [0x28, 0x42], [0x28, 0x49], [0x28, 0x4A]]
            return bytes.indices.contains { index in
                bytes[index] == 0x1B && [0x24, 0x28].contains(bytes.dropFirst(index + 1).first)
                    && !valid.contains(Array(bytes.dropFirst(index + 1).prefix(2)))
            }
        default:
            return false
        }
    }
}

/// The same numbers in each run.
private struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

enum Chromium {
    static let path = "/usr/lib/chromium/chromium-headless-shell"

    /// Runs a script in a page and returns the value with which it calls `show`.
    static func run<Value: Decodable>(_ script: String) throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "chromium-\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // As base64, since the document is printed as HTML.
        let page = """
            <!doctype html><meta charset=utf-8><body><script>
            function show(value) {
                const bytes = new TextEncoder().encode(JSON.stringify(value));
                let text = '';
                for (let start = 0; start < bytes.length; start += 8192)
                    text += String.fromCharCode(...bytes.subarray(start, start + 8192));
                document.body.textContent = '[' + btoa(text) + ']';
            }
            (async () => { \(script) })();
            </script>
            """
        let file = folder.appending(path: "page.html")
        try Data(page.utf8).write(to: file)
        let run = try SpawnedProcess.run(
            path,
            [
                "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=\(folder.path)/profile",
                "--allow-file-access-from-files", "--virtual-time-budget=600000", "--dump-dom", file.absoluteString,
            ],
            environment: ProcessInfo.processInfo.environment.merging(["HOME": folder.path]) { $1 },
            limit: 300
        )
        let document = String(decoding: run.output, as: UTF8.self)
        let start = try #require(document.range(of: "<body>["), "\(String(decoding: run.errors, as: UTF8.self))")
        let end = try #require(document.range(of: "]</body>"))
        let value = try #require(Data(base64Encoded: String(document[start.upperBound..<end.lowerBound])))
        return try JSONDecoder().decode(Value.self, from: value)
    }
}
