#if Gateway
import Foundation
import Testing
import WaystationTestSupport

@testable import WaystationGateway

/// The scanner's edits are compared with the attributes that a parser finds, which builds the whole tree.
///
/// The pages are those of the repository; with `WAYSTATION_LINK_SITES`, a list of directories with colons between them,
/// also those of whole sites.
@Suite("Pages and their links, as a parser finds them", .timeLimit(.minutes(30)))
struct ParsedPagesTests {
    /// The hosts that rules take.
    enum Hosts: CaseIterable, Sendable {
        case none, all, half

        func contains(_ host: String) -> Bool {
            switch self {
            case .none: false
            case .all: true
            case .half: host.utf8.reduce(0) { $0 &+ Int($1) } % 2 == 0
            }
        }
    }

    private static func rewriting(_ hosts: Hosts) -> RewritingOfText {
        let links = Links(names: LocalNames(port: 8080), scheme: "https") { url in
            hosts.contains(url.dropFirst(url.hasPrefix("https") ? 8 : 7).prefix { !":/".contains($0) }.lowercased())
        }
        return RewritingOfText(links: links)
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let examples = folder.appending(path: "../../../Examples").standardizedFileURL

    private static var sites: [URL] {
        let named = ProcessInfo.processInfo.environment["WAYSTATION_LINK_SITES"] ?? ""
        return [examples] + named.split(separator: ":").map { URL(filePath: String($0)) }
    }

    private static func pages() -> [URL] {
        sites.flatMap { site in
            let files = FileManager.default.enumerator(at: site, includingPropertiesForKeys: nil)
            return (files?.compactMap { $0 as? URL } ?? []).filter {
                ["html", "htm"].contains($0.pathExtension) && !$0.path.contains("/.build/")
            }
        }
    }

    @Test("are rewritten in each attribute that names a host of the rules, and nowhere else", arguments: Hosts.allCases)
    func sites(hosts: Hosts) throws {
        let pages = Self.pages()
        #expect(pages.count >= 15)
        var links = 0
        for page in pages {
            let bytes = [UInt8](try Data(contentsOf: page))
            let result = Self.rewriting(hosts)(bytes)
            if hosts == .none {
                #expect(result == bytes, "\(page.path)")
                continue
            }
            let (count, problem) = compare(bytes, result, hosts)
            links += count
            if let problem { Issue.record("\(page.path): \(problem)") }
        }
        #expect(hosts == .none || links > 0)
    }

    @Test("are found beside everything that changes how a tokenizer reads what follows")
    func structures() throws {
        let bytes = Array((Self.structures + Self.foreign).utf8)
        let (count, problem) = compare(bytes, Self.rewriting(.all)(bytes), .all)
        #expect(problem == nil)
        #expect(count == 14)
    }

    @Test("are found in damaged pages as well")
    func damage() throws {
        var random = SeededGenerator(seed: 1)
        var seeds = [Array(Self.structures.utf8)]
        for name in ["index", "media", "pictures", "latin"] {
            seeds.append([UInt8](try Data(contentsOf: Self.examples.appending(path: "Crawler/Site/\(name).html"))))
        }
        for round in 0..<Self.rounds {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let start = Int.random(in: 0...bytes.count, using: &random)
                let end = min(bytes.count, start + Int.random(in: 0...6, using: &random))
                let other = Int.random(in: 0...bytes.count, using: &random)
                let piece = bytes[other..<min(bytes.count, other + Int.random(in: 0...12, using: &random))]
                bytes.replaceSubrange(start..<end, with: Array(piece))
            }
            let problem = compare(bytes, Self.rewriting(.all)(bytes), .all, isDamaged: true).1
            if let problem { Issue.record("\(problem) in: \(String(decoding: bytes, as: UTF8.self))") }
        }
    }

    private static let structures = """
        <!doctype html><title>a & b</title><!-- a -- b --!><!--><!----><meta http-equiv=refresh content="0; url='http://a.b/'">
        <script>a <!-- <script> </script> <script></script> --> b</script><a href=http://a.b/1>1</a><xmp></xm</xmp>
        <style>a { b: url(http://a.b/c) url("http://a.b/d") }</style><textarea><b></textarea><iframe></p></iframe>
        <table><tr><td background=//a.b/2><form action="http://a.b/3"><input></table><ul><li></ul><font size=1></font>
        <img srcset="http://a.b/4 1x, //a.b/5 2x"><p style='b: url(http://a.b/6)'><?php > ?></ bogus><a href=//a.b/7>
        <a title=">" href = 'http://a.b/8'href=/x><plaintex><a href=http://a.b/9>

        """

    /// SVG and MathML are not damaged: the scanner does not read them exactly as a parser does when they are broken.
    ///
    /// Nor is `noscript`, whose content is markup for this parser, and text for a browser that runs scripts.
    private static let foreign = """
        <svg><title><b></title><![CDATA[ <a href=https://a.b/x> ]]]><style>a{b:url(//a.b/10)}</style>
        <use xlink:href="https://a.b/11#i"/><foreignObject><div><a href='//a.b/12'></a></div><![CDATA[></foreignObject>
        <script>x</script></svg><math><mi><b></mi><annotation-xml encoding="text/html"><p><![CDATA[></annotation-xml>
        </math><svg><g><p><style></p></style><noscript><img src=//a.b/x></noscript>
        <img alt='<' src = //a.b/13><plaintext><a href=http://a.b/x>
        """

    private static let rounds = ProcessInfo.processInfo.environment["WAYSTATION_LINK_ROUNDS"].flatMap(Int.init) ?? 500

    /// Compares the trees of a page before and after.
    ///
    /// - Parameters:
    ///   - before: The page.
    ///   - after: The rewritten page.
    ///   - hosts: The hosts that rules take.
    ///   - isDamaged: Whether the URLs may have spellings for which this test does not know the right result.
    /// - Returns: The number of elements with URLs that were rewritten, and the first difference.
    private func compare(
        _ before: [UInt8],
        _ after: [UInt8],
        _ hosts: Hosts,
        isDamaged: Bool = false
    ) -> (Int, String?) {
        let (old, new) = (ParsedPage(before), ParsedPage(after))
        var count = 0
        var expectation = ExpectedLinks(hosts: hosts)
        guard old.elements.map(\.name) == new.elements.map(\.name) else { return (0, "the elements differ") }
        guard old.text == new.text else { return (0, "the text differs") }
        for (old, new) in zip(old.elements, new.elements) {
            let expected = expectation.element(old)
            if expected != old { count += 1 }
            if new == expected || (isDamaged && Self.isUnclear(old, new)) { continue }
            return (count, "\(new) instead of \(expected)")
        }
        return (count, nil)
    }

    /// Whether two elements differ only in the spelling of their URLs.
    private static func isUnclear(_ old: ParsedPage.Element, _ new: ParsedPage.Element) -> Bool {
        guard old.attributes.count == new.attributes.count else { return false }
        let values =
            zip(old.attributes, new.attributes).map { ($0.value, $1.value) } + [(old.style ?? "", new.style ?? "")]
        return values.allSatisfy { old, new in
            old == new || old.contains("http") || old.contains("//")
        }
            && !values.contains { old, new in
                old == new && old.wholeMatch(of: /https?:\/\/[a-z]+(\.[a-z]+)*\/[a-z0-9]*/) != nil
            }
    }
}
#endif
