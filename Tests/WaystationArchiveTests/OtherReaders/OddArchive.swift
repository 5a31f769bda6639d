import Foundation
import Testing

@testable import WaystationArchive

/// An archive of a form that a real writer makes, or nearly makes, and what `unzip`, `bsdtar` and Python say about it.
struct OddArchive: Sendable, CustomTestStringConvertible {
    /// The answer of the three other readers, and the answer that this library must give.
    enum Verdict: Sendable {
        /// The three extract the same files, and so does this library.
        case read
        /// The three extract the same files, but the archive is refused here, for a reason.
        case refused(ZipError.Code, because: String)
        /// The three do not agree, and the archive is refused here.
        case disputed(ZipError.Code)
        /// The three do not agree, and these files are read here, for a reason.
        case decided([String], because: String)
    }

    /// The way in which the archive is made.
    enum Making: Sendable {
        case bytes(RawZip)
        /// By a command of the shell that writes `a.zip` from the folder `in`.
        case command(String)
    }

    let testDescription: String
    let making: Making
    let verdict: Verdict

    init(_ what: String, _ zip: RawZip, _ verdict: Verdict = .read) {
        (testDescription, making, self.verdict) = (what, .bytes(zip), verdict)
    }

    /// An archive of these entries.
    init(_ what: String, _ entries: [RawEntry], _ verdict: Verdict = .read) {
        self.init(what, RawZip(entries), verdict)
    }

    init(command: String, _ verdict: Verdict = .read) {
        (testDescription, making, self.verdict) = (command, .command(command), verdict)
    }

    /// The whole corpus.
    static let all =
        [written, names, backslashes, unicodePaths, directories, kinds, zip64, extraFields, flags, descriptors]
        .flatMap { $0 } + [localHeaders, places, ends].flatMap { $0 }

    /// A file of a writer that knows nothing of UTF-8.
    static func file(_ name: String, _ contents: String = "contents", deflated: Bool = false) -> RawEntry {
        RawEntry(name, contents, deflated: deflated).with { $0.flags = 0 }
    }

    /// A file from MS-DOS or Windows.
    static func dos(_ name: String, _ contents: String = "contents") -> RawEntry {
        file(name, contents).with { ($0.host, $0.attributes) = (0, name.hasSuffix("\\") ? 0x10 : 0x20) }
    }

    static let page = file("index.html", String(repeating: "<p>page</p>", count: 9), deflated: true)
    static let script = file("js/app.js", "let a = 1")
}

/// The readings of one archive by all readers, for the report of `make cross-check-zips`.
struct ZipReadings: Encodable {
    /// The files that a reader extracts, or the reason why it refuses the archive.
    struct Reading: Encodable {
        /// The size and the CRC-32 of each file, by path; the paths of directories end in a slash.
        var files: [String: String]?
        var refusal: String?

        init(_ tree: [String: Data]) {
            files = tree.mapValues { bytes in
                var checksum = CRC32()
                checksum.update(Array(bytes)[...])
                return "\(bytes.count) bytes, \(String(checksum.value, radix: 16))"
            }
        }

        init(refusal: String) { self.refusal = refusal }
    }

    let archive: String
    let verdict: String
    let reason: String?
    let readings: [String: Reading]

    init(of odd: OddArchive, _ readings: [String: Reading]) {
        (archive, self.readings) = (odd.testDescription, readings)
        switch odd.verdict {
        case .read: (verdict, reason) = ("read", nil)
        case .refused(_, let because): (verdict, reason) = ("refused", because)
        case .disputed: (verdict, reason) = ("disputed", nil)
        case .decided(_, let because): (verdict, reason) = ("decided", because)
        }
    }

    /// Writes the readings into the folder that the environment variable WAYSTATION_ZIP_READINGS names, if any.
    func write() throws {
        guard let folder = ProcessInfo.processInfo.environment["WAYSTATION_ZIP_READINGS"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        var checksum = CRC32()
        checksum.update(Array(archive.utf8)[...])
        try encoder.encode(self).write(to: URL(filePath: "\(folder)/\(String(checksum.value, radix: 16)).json"))
    }
}
