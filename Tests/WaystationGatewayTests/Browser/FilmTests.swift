#if Gateway
import Foundation
import Synchronization
import Testing
import Waystation
import WaystationPacks
import WaystationTestSupport

/// Chromium plays a film from a gateway.
@Suite("A film in a browser", .timeLimit(.minutes(10)))
struct FilmTests {
    /// The length of the film in seconds.
    private static let length = 20

    /// Encodes a picture for each second; its bars are the bits of the second, white for 1.
    private static let encoding = """
        const pictures = [];
        const encoder = new VideoEncoder({
            output: chunk => {
                const bytes = new Uint8Array(chunk.byteLength);
                chunk.copyTo(bytes);
                pictures.push(btoa(String.fromCharCode(...bytes)));
            },
            error: error => { throw error },
        });
        encoder.configure({ codec: "vp8", width: 64, height: 64, bitrate: 1e6 });
        for (let second = 0; second < \(length); second++) {
            const canvas = new OffscreenCanvas(64, 64), pen = canvas.getContext("2d");
            for (let bit = 0; bit < 5; bit++) {
                pen.fillStyle = second >> bit & 1 ? "white" : "black";
                pen.fillRect(bit * 12, 0, 12, 64);
            }
            const frame = new VideoFrame(canvas, { timestamp: second * 1e6 });
            encoder.encode(frame, { keyFrame: true });
            frame.close();
        }
        await encoder.flush();
        return pictures;
        """

    /// Makes a film, and a way to wait for its events.
    private static let making = """
        const film = document.createElement("video");
        film.muted = true;
        film.preload = "metadata";
        const happens = name => new Promise((done, fail) => {
            film.addEventListener(name, done, { once: true });
            film.addEventListener("error", () => fail(film.error.message), { once: true });
        });
        """

    /// Plays the film to its end; returns the time at which it ends.
    private static let playing = """
        \(making)
        const ended = happens("ended");
        film.src = "film.webm";
        document.body.append(film);
        film.playbackRate = 16;
        await film.play();
        await ended;
        return [film.currentTime];
        """

    /// Goes to three times of the film; returns its length, and each time with the second that its picture shows.
    private static let seeking = """
        \(making)
        const ready = happens("loadeddata");
        film.src = "film.webm";
        document.body.append(film);
        await ready;
        const found = [film.duration];
        for (const time of [17.5, 3.5, 11.5]) {
            // On a busy machine, the film is at its time before it shows the picture of that time.
            const shown = new Promise(done => film.requestVideoFrameCallback(done));
            const sought = happens("seeked");
            film.currentTime = time;
            await sought;
            await shown;
            const canvas = new OffscreenCanvas(64, 64), pen = canvas.getContext("2d");
            pen.drawImage(film, 0, 0);
            const isWhite = bit => pen.getImageData(bit * 12 + 6, 32, 1, 1).data[0] > 128;
            found.push(film.currentTime, [0, 1, 2, 3, 4].reduce((sum, bit) => sum + (isWhite(bit) << bit), 0));
        }
        return found;
        """

    /// Encodes the film.
    private func film(_ page: Page, of fixture: GatewayFixture, isDense: Bool = false) async throws -> Data {
        try await page.open(fixture.url())
        try await page.waitUntil(GatewayFixture.hasResult)
        let pictures = try await page.evaluate("result").elements.compactMap { Data(base64Encoded: $0.string ?? "") }
        try #require(pictures.count == Self.length)
        return Film(pictures, width: 64, isDense: isDense).data
    }

    private func result(_ page: Page, at url: URL) async throws -> JSONValue {
        try await page.open(url)
        try await page.waitUntil(GatewayFixture.hasResult)
        return try await page.evaluate("result")
    }

    @Test("shows each picture without a network when it was played once through the cache")
    func offline() async throws {
        let body = RangedBody(Data())
        body.change { $0.fields["Content-Type"] = "video/webm" }
        let origin = try ScriptedOrigin { request in
            let fields: KeyValuePairs = ["Content-Type": "text/html", "Cache-Control": "max-age=3600"]
            return switch request.path {
            case "/film.webm": body.answer(to: request)
            case "/play": .ok(GatewayFixture.page(Self.playing), fields: fields)
            case "/seek": .ok(GatewayFixture.page(Self.seeking), fields: fields)
            default: .status(404)
            }
        }
        let folder = try TemporaryDirectory()
        let fixture = try await GatewayFixture(files: ["index.html": GatewayFixture.page(Self.encoding)]) { _ in
        } interceptor: {
            $0.rules.append(.allow("\(origin.url())**", via: .cache(.cacheFirst(for: .days(1)))))
            $0.cache = try ResponseCache(directory: folder.url, environment: .patient)
        }
        let host = fixture.name(of: origin)
        try await fixture.browse { page in
            let film = try await film(page, of: fixture, isDense: true)
            body.change { $0.body = film }
            let ended = try await result(page, at: fixture.url("/play", at: host))
            #expect(ended == [20])
        }
        // The page that seeks was not seen yet; its film was.
        _ = try await fixture.get("/seek", host: host)
        await fixture.interceptor.configuration.cache?.flush()
        let requests = origin.requestCount
        origin.stop()
        // A browser of its own has nothing in its cache.
        try await fixture.browse { page in
            let shown = try await result(page, at: fixture.url("/seek", at: host))
            #expect(shown == [20, 17.5, 17, 3.5, 3, 11.5, 11])
        }
        #expect(origin.requestCount == requests)
    }

    @Test("shows the picture of each time that the user goes to, and asks only for parts", arguments: [true, false])
    func seeking(isInPack: Bool) async throws {
        let ranges = Mutex<[String]>([])
        // Loads that the browser cancels are in no recording, so the requests are noted where the rules see them.
        let noting = Rule.block("https://shop.example/player/film.webm") { request in
            ranges.withLock { $0.append(request.field?("Range") ?? "none") }
            return false
        }
        let packs = try PackFixture()
        let fixture = try await GatewayFixture(
            files: ["index.html": GatewayFixture.page(Self.encoding), "player/index.html": ""]
        ) { _ in
        } interceptor: {
            $0.packs = packs.library
            if isInPack {
                $0.rules.insert(.allow("https://shop.example/player/**", via: .pack(orElse: .nowhere)), at: 0)
            }
            $0.rules.insert(noting, at: 0)
        }
        try await fixture.browse { page in
            let film = try await film(page, of: fixture)
            let player = Data(GatewayFixture.page(Self.seeking).utf8)
            if isInPack {
                try await packs.install(
                    ["index.html": player, "film.webm": film],
                    at: "https://shop.example/player/"
                )
            } else {
                try fixture.write(player, to: "player/index.html")
                try fixture.write(film, to: "player/film.webm")
            }
            let shown = try await result(page, at: fixture.url("/player/"))
            #expect(shown == [20, 17.5, 17, 3.5, 3, 11.5, 11])
        }
        let asked = ranges.withLock { $0 }
        #expect(asked.first == "bytes=0-")
        #expect(asked.allSatisfy { $0.hasPrefix("bytes=") }, "\(asked)")
        let starts = asked.map { Int($0.trimmingPrefix("bytes=").prefix { $0 != "-" }) ?? -1 }
        // The pictures of the seconds are 1 MiB from each other.
        #expect(
            starts.contains { $0 >= 16 << 20 } && starts.contains { (10 << 20..<12 << 20).contains($0) },
            "\(asked)"
        )
    }
}
#endif
