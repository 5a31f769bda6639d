import WaystationFoundation
import WaystationHTTP
import WaystationRecording
import WaystationStorage

/// The place of the bodies of recorded responses.
public enum RecordedBodies: Sendable, Hashable {
    /// In the HAR file; bytes that are not text in Base64.
    case inline
    /// In files beside the HAR file: bodies that are not text, and those of more than this number of bytes.
    ///
    /// The files of `orders.har` are in the folder `orders.bodies`. Each has the name of its request, such as
    /// `GET-api.example-photos-7.png`, so that a recording that is made again replaces the same files. Files that no entry
    /// has any more are removed.
    case beside(above: Int)

    /// Files for bodies that are not text, and for those of more than 16 KiB.
    public static let automatic = RecordedBodies.beside(above: 16 << 10)

    /// Whether a body gets a file.
    func leavesFile(_ content: HARArchive.Content) -> Bool {
        guard case .beside(let limit) = self, let text = content.text, content.file == nil, !text.isEmpty else {
            return false
        }
        return content.encoding != nil || text.utf8.count > limit
    }

    /// The folder of the bodies of a recording.
    static func folder(of recording: URL) -> URL {
        recording.deletingPathExtension().appendingPathExtension("bodies")
    }

    /// A name for the body of an entry that differs from those of the other entries, also where case is ignored.
    static func name(of entry: HARArchive.Entry, besides used: inout Set<String>) -> String {
        let url = URLComponents(string: entry.request.url)
        var segments = (url?.path ?? "").split(separator: "/").map(String.init)
        var known: String?
        if let last = segments.last, let dot = last.lastIndex(of: "."), dot > last.startIndex {
            let suffix = last[last.index(after: dot)...]
            if (1...8).contains(suffix.count), suffix.allSatisfy(\.isPlain) {
                known = String(suffix)
                segments[segments.count - 1] = String(last[..<dot])
            }
        }
        let words = ([entry.request.method, url?.host ?? ""] + segments).filter { !$0.isEmpty }
        let stem = words.map { String($0.map { $0.isPlain ? $0 : "-" }) }.joined(separator: "-").prefix(100)
        let type = entry.response.content.mimeType.prefix { $0 != ";" }.lowercased()
        let ending = known ?? suffixes[type] ?? (entry.response.content.encoding == nil ? "txt" : "bin")
        var name = "\(stem).\(ending)"
        var number = 2
        while !used.insert(name.lowercased()).inserted {
            name = "\(stem)-\(number).\(ending)"
            number += 1
        }
        return name
    }

    /// Removes the files that no entry has, and the folder if it becomes empty.
    static func removeFiles(in folder: URL, without entries: [HARArchive.Entry]) {
        let kept = Set(entries.compactMap(\.response.content.file))
        let path = folder.path(percentEncoded: false)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        where !kept.contains("\(folder.lastPathComponent)/\(name)") {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
        removeIfEmpty(folder)
    }

    /// Removes the folder of the bodies if it has no files.
    static func removeIfEmpty(_ folder: URL) {
        // The system refuses to remove a folder that has files.
        _ = rmdir(folder.path(percentEncoded: false))
    }

    private static let suffixes = [
        "application/json": "json", "application/javascript": "js", "application/pdf": "pdf",
        "application/xml": "xml", "application/zip": "zip", "audio/mpeg": "mp3", "font/woff2": "woff2",
        "image/gif": "gif", "image/jpeg": "jpg", "image/png": "png", "image/svg+xml": "svg", "image/webp": "webp",
        "text/css": "css", "text/csv": "csv", "text/html": "html", "text/javascript": "js", "text/xml": "xml",
        "video/mp4": "mp4", "video/webm": "webm",
    ]
}

/// A body that gets a file beside its recording.
struct BodyFile {
    /// The index of the body's entry.
    let entry: Int
    let name: String
    let body: Data
    private let temporaryName = RandomName.make()

    init(ofEntry entry: Int, name: String, body: Data) {
        self.entry = entry
        self.name = name
        self.body = body
    }

    /// Writes the file under a temporary name; only its owner can read it, like the recording.
    func write(in folder: URL) throws(RecordingError) {
        let files = LocalFileSystem()
        do {
            let file = try files.createFile(path(temporaryName, in: folder))
            try files.write(body, to: file)
            try files.synchronize(file)
        } catch { throw failure(in: folder, error) }
    }

    /// Gives the file its name, replacing an existing file.
    func putInPlace(in folder: URL) throws(RecordingError) {
        do { try LocalFileSystem().rename(path(temporaryName, in: folder), to: path(name, in: folder)) } catch {
            throw failure(in: folder, error)
        }
    }

    /// Removes the file if it has its temporary name.
    func discard(in folder: URL) { try? LocalFileSystem().removeFile(path(temporaryName, in: folder)) }

    private func path(_ name: String, in folder: URL) -> String {
        folder.appending(path: name).path(percentEncoded: false)
    }

    private func failure(in folder: URL, _ error: any Error) -> RecordingError {
        RecordingError(
            .unwritable,
            "\(path(name, in: folder)) cannot be made: check that its folder exists and is writable",
            cause: error
        )
    }
}

extension Character {
    /// Whether the character is a letter or a digit of ASCII, a dot, a dash or an underscore.
    fileprivate var isPlain: Bool { isASCII && (isLetter || isNumber || self == "." || self == "-" || self == "_") }
}

/// A request without secrets, as it is compared; what is not compared is not made.
struct ComparedRequest {
    let method: String
    /// The URL without its fragment.
    let url: String
    /// Returns the values of a header field.
    let values: (_ field: String) -> String
    /// Returns the body as text; nil if the request has no body.
    let body: () -> String?

    /// A request that is made now.
    init(_ request: URLRequest, _ redaction: Redaction) {
        method = request.httpMethod ?? "GET"
        url = redaction.url(withoutFragment: request.url?.absoluteString ?? "")
        values = { name in request.value(forHTTPHeaderField: name).map { redaction.value($0, ofField: name) } ?? "" }
        body = { HARArchive.Request(request, redaction).postData?.text }
    }

    /// A request of a recording, which another program may have made.
    init(_ recorded: HARArchive.Request, _ redaction: Redaction) {
        method = recorded.method
        url = redaction.url(withoutFragment: recorded.url)
        values = { name in
            recorded.headers.filter { $0.name.equalsIgnoringCase(name) }
                .map { redaction.value($0.value, ofField: $0.name) }.joined(separator: ", ")
        }
        body = {
            guard let body = recorded.postData, body.encoding == nil else { return recorded.postData?.text }
            return String(decoding: redaction.body(Data(body.text.utf8), type: body.mimeType), as: UTF8.self)
        }
    }
}

/// The parts in which requests and recorded requests are compared.
struct RequestComparison: Sendable {
    let parts: [RecordedPart]
    let redaction: Redaction

    /// The values of the parts, in their order.
    func key(of request: URLRequest) -> [ExactText] { key(of: ComparedRequest(request, redaction)) }

    /// The values of the parts, in their order.
    func key(of request: HARArchive.Request) -> [ExactText] { key(of: ComparedRequest(request, redaction)) }

    private func key(of request: ComparedRequest) -> [ExactText] { parts.map { ExactText($0.value(request)) } }
}

/// A text that equals only the same bytes; Swift's texts also equal those with other code points for the same characters.
struct ExactText: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactText, right: ExactText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Redaction {
    fileprivate func url(withoutFragment text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "#")) else { return url(text) }
        return url(String(text.prefix { $0 != "#" }))
    }
}
