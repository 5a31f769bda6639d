import Foundation
import HTTPTypes
import Testing
import WaystationStorage

private func bytes(_ text: String) -> Data {
    Data(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
}

/// Text in which each scalar stands for one byte.
private let samples: [(String, String)] = [
    // HTML: any case, after white space, and only in front of a tag-terminating byte
    ("<!DOCTYPE html>", "text/html"), ("<!doctype HTML ", "text/html"), (" \t\r\n\u{C}<html>", "text/html"),
    ("<head>", "text/html"), ("<script>", "text/html"), ("<iframe ", "text/html"), ("<h1>", "text/html"),
    ("<div ", "text/html"), ("<font>", "text/html"), ("<table>", "text/html"), ("<a href", "text/html"),
    ("<style>", "text/html"), ("<title>", "text/html"), ("<b>", "text/html"), ("<body>", "text/html"),
    ("<br>", "text/html"), ("<p>", "text/html"), ("<!-- ", "text/html"), ("<!-->", "text/html"),
    ("<!DOCTYPE html", "text/plain"), ("<html", "text/plain"), ("<html/", "text/plain"), ("<article>", "text/plain"),
    ("<bogus>", "text/plain"), ("<!--x", "text/plain"), ("x<html>", "text/plain"),
    ("\u{B}<html>", "application/octet-stream"),
    // XML, documents, byte order marks
    ("<?xml version", "text/xml"), ("  <?xml", "text/xml"), ("<?XML", "text/plain"), ("%PDF-1.7", "application/pdf"),
    (" %PDF-", "text/plain"), ("%!PS-Adobe-3.0", "application/postscript"), ("\u{FE}\u{FF}\u{0}a", "text/plain"),
    ("\u{FF}\u{FE}a\u{0}", "text/plain"), ("\u{EF}\u{BB}\u{BF}\u{0}", "text/plain"),
    ("\u{FE}\u{FF}\u{0}", "application/octet-stream"),
    // Images
    ("\u{0}\u{0}\u{1}\u{0}", "image/x-icon"), ("\u{0}\u{0}\u{2}\u{0}", "image/x-icon"), ("BM...", "image/bmp"),
    ("GIF87a", "image/gif"), ("GIF89a", "image/gif"), ("GIF88a", "text/plain"),
    ("RIFF\u{0}\u{1}\u{2}\u{3}WEBPVP8 ", "image/webp"), ("\u{89}PNG\r\n\u{1A}\n", "image/png"),
    ("\u{89}PNG\r\n\u{1A}", "application/octet-stream"), ("\u{FF}\u{D8}\u{FF}\u{E0}", "image/jpeg"),
    // Audio and video
    ("FORM\u{0}\u{0}\u{0}\u{0}AIFF", "audio/aiff"), ("ID3\u{3}", "audio/mpeg"), ("OggS\u{0}", "application/ogg"),
    ("MThd\u{0}\u{0}\u{0}\u{6}", "audio/midi"), ("RIFF\u{0}\u{0}\u{0}\u{0}AVI ", "video/avi"),
    ("RIFF\u{0}\u{0}\u{0}\u{0}WAVE", "audio/wave"),
    ("\u{0}\u{0}\u{0}\u{C}ftypmp42", "video/mp4"),
    ("\u{0}\u{0}\u{0}\u{14}ftypisom\u{0}\u{0}\u{2}\u{0}mp41", "video/mp4"),
    ("\u{0}\u{0}\u{0}\u{14}ftypisom\u{0}\u{0}\u{2}\u{0}avc1", "application/octet-stream"),
    ("\u{0}\u{0}\u{0}\u{14}ftypisommp41avc1", "application/octet-stream"),
    ("\u{0}\u{0}\u{0}\u{D}ftypmp42\u{0}", "application/octet-stream"),
    ("\u{0}\u{0}\u{0}\u{20}ftypmp42", "application/octet-stream"),
    ("\u{0}\u{0}\u{0}\u{8}ftyp", "application/octet-stream"),
    ("\u{1A}E\u{DF}\u{A3}\u{A3}B\u{82}\u{84}webm", "video/webm"),
    ("\u{1A}E\u{DF}\u{A3}\u{A3}B\u{82}\u{40}\u{6}\u{0}\u{0}webm", "video/webm"),
    ("\u{1A}E\u{DF}\u{A3}\u{A3}B\u{82}\u{88}matroska", "application/octet-stream"),
    ("\u{1A}E\u{DF}\u{A3}", "application/octet-stream"), ("\u{1A}E\u{DF}\u{A3}B\u{82}", "application/octet-stream"),
    // MPEG-1 layer III, 128 kbit/s, 44.1 kHz: frames of 417 bytes; MPEG-2, 64 kbit/s, 22.05 kHz: 208
    (mp3("\u{FF}\u{FB}\u{90}\u{0}", 417), "audio/mpeg"), (mp3("\u{FF}\u{FB}\u{92}\u{0}", 418), "audio/mpeg"),
    (mp3("\u{FF}\u{F3}\u{80}\u{0}", 208), "audio/mpeg"),
    (mp3("\u{FF}\u{FB}\u{90}\u{0}", 400), "application/octet-stream"),
    (mp3("\u{FF}\u{FB}\u{F0}\u{0}", 417), "application/octet-stream"),
    ("\u{FF}\u{FB}\u{90}\u{0}", "application/octet-stream"),
    (mp3("\u{FF}\u{FD}\u{90}\u{0}", 417), "application/octet-stream"),
    // Fonts, recognised in binary files only
    (String(repeating: "\u{0}", count: 34) + "LP", "application/vnd.ms-fontobject"),
    (String(repeating: "x", count: 34) + "LP", "text/plain"), ("\u{0}\u{1}\u{0}\u{0}\u{0}", "font/ttf"),
    ("OTTO\u{0}", "font/otf"), ("ttcf\u{0}", "font/collection"), ("wOFF\u{0}", "font/woff"),
    ("wOF2\u{0}", "font/woff2"),
    // Archives
    ("\u{1F}\u{8B}\u{8}\u{0}", "application/x-gzip"), ("PK\u{3}\u{4}", "application/zip"),
    ("Rar \u{1A}\u{7}\u{0}", "application/x-rar-compressed"), ("PK\u{5}\u{6}", "application/octet-stream"),
    // Text or binary
    ("", "text/plain"), ("hello", "text/plain"), ("a\u{1B}[1m", "text/plain"), ("gr\u{FC}n", "text/plain"),
    ("a\u{0}", "application/octet-stream"), ("a\u{8}", "application/octet-stream"),
    ("a\u{B}", "application/octet-stream"),
    ("a\u{E}", "application/octet-stream"), ("a\u{1A}", "application/octet-stream"),
    ("a\u{1C}", "application/octet-stream"),
    ("\t\n\u{C}\r", "text/plain"), ("\u{7F}", "text/plain"),
]

/// Two frame headers, `size` bytes apart.
private func mp3(_ head: String, _ size: Int) -> String {
    head + String(repeating: "\u{0}", count: size - 4) + head
}

@Suite("MIME sniffing (WHATWG)")
struct SniffingTests {
    @Test("The bytes decide if the name says nothing", arguments: samples)
    func sniffing(sample: String, expected: String) {
        for name in ["README", "file.unknown-extension"] {
            #expect(MediaType.mediaType(forFileName: name, leadingBytes: bytes(sample)).essence == expected)
        }
    }

    @Test("Every beginning and end of every sample gets a type without a trap", arguments: samples)
    func beginnings(sample: String, expected: String) {
        let data = bytes(sample)
        for length in 0..<data.count {
            #expect(!MediaType.mediaType(forFileName: "x", leadingBytes: data.prefix(length)).essence.isEmpty)
            #expect(!MediaType.mediaType(forFileName: "x", leadingBytes: data.suffix(length)).essence.isEmpty)
        }
    }

    @Test("Only the first 1445 bytes count")
    func window() {
        let text = Data(repeating: UInt8(ascii: "a"), count: 1445)
        #expect(MediaType.mediaType(forFileName: "x", leadingBytes: text + [0]).essence == "text/plain")
        #expect(MediaType.mediaType(forFileName: "x", leadingBytes: text.dropLast() + [0]).essence != "text/plain")
    }

    @Test("A file without an extension is sniffed when it is served", arguments: [0, 1 << 20])
    func served(residentFileLimit: Int) throws {
        let site = try TemporarySite(["page": "<html><p>\u{E9}", "image": "GIF89a"])
        let directory = try site.directory(.init(residentFileLimit: residentFileLimit))
        func type(_ path: String) -> String? {
            directory.answer(FileRequest(path: path)).answer?.headerFields[.contentType]
        }
        #expect(type("page") == "text/html; charset=utf-8")
        #expect(type("image") == "image/gif")
    }
}
