#if Gateway
import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationGateway
import WaystationRecording
import WaystationTestSupport
import WaystationTesting

@Suite("A site from a web archive, in a browser", .timeLimit(.minutes(10)))
struct ArchivedSiteTests {
    /// A site of ten pages, which share a style sheet, a script and an image, and ask for data of their own.
    private static let site = ScriptedTransport { request in
        let picture = """
            <svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"><rect width="7" height="7" fill="teal"/></svg>
            """
        switch request.url?.path() {
        case "/style.css":
            return .ok("h1 { color: rgb(1, 2, 3); background: url(picture.svg) }", fields: ["Content-Type": "text/css"])
        case "/script.js":
            let script = """
                import { sum } from "./sum.js";
                const page = location.pathname.match(/[0-9]+/)[0];
                const data = await (await fetch(`data.json?page=${page}&q=caf%C3%A9`)).json();
                const image = document.querySelector("img");
                await image.decode();
                const color = getComputedStyle(document.querySelector("h1")).color;
                window.result = [document.title, color, image.naturalWidth, data.page, sum(data.numbers)].join(" ");
                """
            return .ok(script, fields: ["Content-Type": "text/javascript"])
        case "/sum.js":
            let script = "export const sum = numbers => numbers.reduce((a, b) => a + b, 0);"
            return .ok(script, fields: ["Content-Type": "text/javascript"])
        case "/picture.svg": return .ok(picture, fields: ["Content-Type": "image/svg+xml"])
        case "/data.json":
            let page = request.url?.query()?.split(separator: "&").first?.dropFirst("page=".count) ?? ""
            return .ok(
                #"{ "page": "\#(page)", "numbers": [1, 2, \#(page)] }"#,
                fields: ["Content-Type": "application/json"]
            )
        case let path?:
            let page = """
                <!doctype html><meta charset=utf-8><title>Seite \(path.filter(\.isNumber)) über</title>
                <link rel=icon href="data:,"><link rel=stylesheet href=style.css>
                <h1>one</h1><img src=picture.svg><a href="1.html">first</a>
                <script type=module src=script.js></script>
                """
            return .ok(page, fields: ["Content-Type": "text/html"])
        case nil: return .failed(.badURL)
        }
    }

    /// Shows ten pages, and returns their results.
    private func results(_ route: Route, recorder: FileRecorder? = nil) async throws -> [String?] {
        let fixture = try await GatewayFixture {
            _ in
        } interceptor: {
            $0.rules = [.allow("https://site.example/**", via: route)]
            $0.recorder = recorder
        }
        var results: [String?] = []
        try await fixture.browse { page in
            for number in 1...10 {
                try await page.open(fixture.url("/\(number).html", at: "site-example.localhost:\(fixture.port)"))
                try await page.waitUntil(GatewayFixture.hasResult)
                results.append(try await page.evaluate("result").string)
            }
            #expect(page.consoleErrors.isEmpty)
        }
        return results
    }

    @Test("is what it was when it was recorded, without a network", arguments: [RecordingFormat.wacz, .warc, .har])
    func played(format: RecordingFormat) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "site.\(format)")
        let recorder = try FileRecorder(to: file, as: format)
        let recorded = try await results(.carried(by: Self.site, as: "the site"), recorder: recorder)
        #expect(recorded.first == "Seite 1 über rgb(1, 2, 3) 7 1 4")
        #expect(Set(recorded).count == 10)
        try await recorder.finish()
        #expect(try await results(.archive(file: file)) == recorded)
    }
}
#endif
