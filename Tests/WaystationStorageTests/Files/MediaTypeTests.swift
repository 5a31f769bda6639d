import Foundation
import HTTPTypes
import Testing
import WaystationStorage

@Suite("Media types")
struct MediaTypeTests {
    @Test("The table is large, lower-case and names each extension once")
    func table() {
        let extensions = MediaType.extensionsByEssence.flatMap { $0.extensions.split(separator: " ") }
        #expect(extensions.count >= 150)
        #expect(Set(extensions).count == extensions.count)
        #expect(extensions.allSatisfy { $0 == $0.lowercased() && !$0.contains(".") })
        #expect(MediaType.extensionsByEssence.allSatisfy { $0.essence.split(separator: "/").count == 2 })
    }

    @Test(
        "The extension after the last dot decides, in any case",
        arguments: [
            ("index.html", "text/html; charset=utf-8"), ("INDEX.HTM", "text/html; charset=utf-8"),
            ("a.xhtml", "application/xhtml+xml"), ("a.css", "text/css; charset=utf-8"),
            ("a.js", "text/javascript; charset=utf-8"), ("a.mjs", "text/javascript; charset=utf-8"),
            ("a.cjs", "text/javascript; charset=utf-8"), ("a.min.js", "text/javascript; charset=utf-8"),
            ("a.json", "application/json"), ("a.js.map", "application/json"),
            ("a.webmanifest", "application/manifest+json"), ("a.wasm", "application/wasm"), ("a.svg", "image/svg+xml"),
            ("a.svgz", "image/svg+xml"), ("a.png", "image/png"), ("a.jpg", "image/jpeg"), ("a.JPEG", "image/jpeg"),
            ("a.gif", "image/gif"), ("a.webp", "image/webp"), ("a.avif", "image/avif"), ("a.jxl", "image/jxl"),
            ("a.ico", "image/x-icon"), ("a.bmp", "image/bmp"), ("a.apng", "image/apng"), ("a.tiff", "image/tiff"),
            ("a.heic", "image/heic"), ("a.woff", "font/woff"), ("a.woff2", "font/woff2"), ("a.ttf", "font/ttf"),
            ("a.otf", "font/otf"), ("a.eot", "application/vnd.ms-fontobject"), ("a.mp3", "audio/mpeg"),
            ("a.m4a", "audio/mp4"), ("a.aac", "audio/aac"), ("a.ogg", "audio/ogg"), ("a.oga", "audio/ogg"),
            ("a.opus", "audio/ogg"), ("a.wav", "audio/wav"), ("a.flac", "audio/flac"), ("a.mp4", "video/mp4"),
            ("a.m4v", "video/mp4"), ("a.webm", "video/webm"), ("a.ogv", "video/ogg"), ("a.mov", "video/quicktime"),
            ("a.ts", "video/mp2t"), ("a.m3u8", "application/vnd.apple.mpegurl"), ("a.mpd", "application/dash+xml"),
            ("a.vtt", "text/vtt; charset=utf-8"), ("a.srt", "application/x-subrip"), ("a.pdf", "application/pdf"),
            ("a.txt", "text/plain; charset=utf-8"), ("README.md", "text/markdown; charset=utf-8"),
            ("a.csv", "text/csv; charset=utf-8"), ("a.tsv", "text/tab-separated-values; charset=utf-8"),
            ("a.xml", "application/xml"), ("a.rss", "application/rss+xml"), ("a.atom", "application/atom+xml"),
            ("a.xsl", "application/xslt+xml"), ("a.zip", "application/zip"), ("a.tar.gz", "application/gzip"),
            ("a.tar", "application/x-tar"), ("a.bz2", "application/x-bzip2"), ("a.xz", "application/x-xz"),
            ("a.7z", "application/x-7z-compressed"), ("a.br", "application/x-brotli"), ("a.zst", "application/zstd"),
            ("a.epub", "application/epub+zip"), ("a.ics", "text/calendar; charset=utf-8"), ("a.rtf", "application/rtf"),
            ("a.doc", "application/msword"), ("a.xls", "application/vnd.ms-excel"),
            ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            ("a.odt", "application/vnd.oasis.opendocument.text"), ("a.glb", "model/gltf-binary"),
            ("a.gltf", "model/gltf+json"), ("a.wgsl", "text/wgsl; charset=utf-8"), ("a.yml", "application/yaml"),
            ("a.toml", "application/toml"), ("a.sqlite", "application/vnd.sqlite3"),
            ("a.bin", "application/octet-stream"),
            ("a.exe", "application/vnd.microsoft.portable-executable"), (".css", "text/css; charset=utf-8"),
            ("v1.2/a.css", "text/css; charset=utf-8"),
        ]
    )
    func extensions(name: String, expected: String) {
        // Bytes that contradict the extension do not count.
        #expect(MediaType.mediaType(forFileName: name, leadingBytes: Data("%PDF-1.7".utf8)).fieldValue == expected)
    }

    @Test("Files whose type browsers check never get a generic one", arguments: ["css", "js", "mjs", "wasm"])
    func neverGeneric(_ pathExtension: String) {
        let binary = Data([0, 1, 2, 0xFF])
        let type = MediaType.mediaType(forFileName: "a." + pathExtension, leadingBytes: binary)
        #expect(type.essence != "application/octet-stream")
        #expect(type.charset == nil)
    }

    @Test("A compressed SVG is sent as an SVG with the content coding gzip")
    func compressedSVG() throws {
        let site = try TemporarySite(["a.svgz": "x", "a.svg": "x"])
        let directory = try site.directory()
        let zipped = directory.answer(FileRequest(path: "a.svgz")).answer
        #expect(zipped?.headerFields[.contentType] == "image/svg+xml")
        #expect(zipped?.headerFields[.contentEncoding] == "gzip")
        #expect(directory.answer(FileRequest(path: "a.svg")).answer?.headerFields[.contentEncoding] == nil)
    }

    @Test(
        "A charset is stated only if the bytes prove it",
        arguments: [
            (Data("plain".utf8), "utf-8"), (Data("gr\u{FC}n".utf8), "utf-8"), (Data(), "utf-8"),
            (Data([0xEF, 0xBB, 0xBF, 0x61]), "utf-8"), (Data([0xFF, 0xFE, 0x61, 0]), "utf-16"),
            (Data([0xFE, 0xFF, 0, 0x61]), "utf-16"), (Data([0x67, 0x72, 0xFC, 0x6E]), nil), (Data([0xC0, 0x80]), nil),
            (Data([0xED, 0xA0, 0x80]), nil), (Data([0xF4, 0x90, 0x80, 0x80]), nil), (Data([0xE0, 0x9F, 0xBF]), nil),
            (Data([0x61, 0x80]), nil), (Data("12345678".utf8) + [0xFF], nil), (Data("\u{10FFFF}\u{800}".utf8), "utf-8"),
            // Cut in the middle of a character, whose other bytes follow later.
            (Data([0x61, 0xE2, 0x82]), "utf-8"),
        ] as [(Data, String?)]
    )
    func charset(bytes: Data, expected: String?) {
        for name in ["a.txt", "a.html", "a.css", "a.js"] {
            #expect(MediaType.mediaType(forFileName: name, leadingBytes: bytes).charset == expected)
        }
        #expect(MediaType.mediaType(forFileName: "a.xml", leadingBytes: bytes).charset == nil)
    }

    @Test("A wrong byte far into the file, or a cut at its end, removes the charset", arguments: [1 << 20, 100])
    func charsetOfWholeFile(residentFileLimit: Int) throws {
        let site = try TemporarySite()
        let long = Data(String(repeating: "\u{E9}", count: 2000).utf8)
        try site.write(long, to: "good.txt")
        try site.write(long + [0xFF], to: "bad.txt")
        try site.write(long + [0xC3], to: "cut.txt")
        // An odd chunk size, so that characters are split between chunks.
        let directory = try site.directory(.init(residentFileLimit: residentFileLimit, chunkSize: 333))
        func type(_ path: String) -> String? {
            directory.answer(FileRequest(path: path)).answer?.headerFields[.contentType]
        }
        #expect(type("good.txt") == "text/plain; charset=utf-8")
        #expect(type("bad.txt") == "text/plain")
        #expect(type("cut.txt") == "text/plain")
    }
}
