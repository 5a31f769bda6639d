import Foundation
import WaystationArchive
import WaystationHTTP

/// Removes content codings from a recorded body (RFC 9110 §8.4.1), by the codecs of the engine.
///
/// Programs record bodies in two ways: as they were transferred, and decoded. Some that decode them leave the field
/// `Content-Encoding` as it was, so the bytes decide, as with warcio: a body that is not in the coding that its field
/// names was decoded already.
enum ContentCoding {
    /// The largest number of codings of one body; real bodies have one.
    private static let maximumCount = 8

    /// Returns the body without its codings.
    ///
    /// If one of the codings is unknown, such as `utf-8`, none is removed, as in a live load (``ContentCodings``).
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - fields: The values of `Content-Encoding`.
    ///   - limit: The largest number of bytes without a coding.
    /// - Returns: The body.
    /// - Throws: ``ImportRefusal`` for too many codings, for a coding whose library is not installed, for damaged data,
    ///   and for a body larger than `limit`.
    static func decode(_ body: Data, _ fields: [String], limit: Int) throws(ImportRefusal) -> Data {
        let codings = ContentCodings(fields)
        guard codings.names.count <= maximumCount else {
            throw ImportRefusal(.contentCoding, "it has \(codings.names.count) content codings")
        }
        guard codings.areRemoved else { return body }
        var body = body
        // The last coding in the field was applied last.
        for coding in codings.names.reversed() {
            guard !body.isEmpty, let decoded = try decoded(body, coding, limit) else { break }
            body = decoded
        }
        return body
    }

    /// The body without one coding; nil if it is not in this coding.
    private static func decoded(_ body: Data, _ coding: String, _ limit: Int) throws(ImportRefusal) -> Data? {
        let mark = Mark(coding)
        guard mark.mayBegin(body) else { return nil }
        guard let codec = ContentCodecs.make(coding) else {
            throw ImportRefusal(
                .contentCoding,
                "the content coding of the body is \(coding), whose library is not installed: install "
                    + (coding == "br" ? "libbrotli1" : "libzstd1")
            )
        }
        do {
            let (decoded, rest) = try CodedBytes(body, coding).decoded(by: codec, limit: limit)
            // A text may be valid Brotli by chance, but hardly to its end.
            guard rest == 0 || mark != .none else { return nil }
            return decoded
        } catch let refusal as ImportRefusal {
            throw refusal
        } catch {
            guard mark == .none, body.isPlain else {
                throw ImportRefusal(.damagedBody, "the \(coding) data of the body are damaged or cut off")
            }
            return nil
        }
    }

    /// How the data of a coding begin.
    private enum Mark {
        case gzip, zstd
        /// The coding has no mark, or need not have one.
        case none

        init(_ coding: String) {
            self = coding == "zstd" ? .zstd : coding.hasSuffix("gzip") ? .gzip : .none
        }

        func mayBegin(_ body: Data) -> Bool {
            switch self {
            case .gzip: body.starts(with: [0x1F, 0x8B])
            case .zstd: Frame.begins(body)
            case .none: true
            }
        }
    }
}

/// The beginnings of Zstandard's frames (RFC 8878 §3.1).
enum Frame {
    /// Whether bytes begin with a frame of data, or with one that is skipped.
    static func begins(_ bytes: Data) -> Bool { bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) || isSkippable(bytes) }

    /// Whether bytes begin with a frame that is skipped.
    static func isSkippable(_ bytes: Data) -> Bool {
        bytes.first.map { $0 & 0xF0 == 0x50 } ?? false && bytes.dropFirst().starts(with: [0x2A, 0x4D, 0x18])
    }
}

/// A whole body in one coding.
private struct CodedBytes {
    private struct Damage: Error {}

    private let bytes: Data
    private let coding: String

    init(_ bytes: Data, _ coding: String) {
        self.bytes = bytes
        self.coding = coding
    }

    /// Decodes the body.
    ///
    /// Members of gzip that follow one another are decoded as one text (RFC 1952 §2.2).
    ///
    /// - Returns: The bytes, and how many follow the coded data.
    /// - Throws: ``ImportRefusal`` if there are more than `limit`, and another error if the data are not valid.
    func decoded(by codec: any ContentCodec, limit: Int) throws -> (decoded: Data, rest: Int) {
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { output.deallocate() }
        var codec = codec
        var result = Data()
        var place = 0
        while true {
            let progress = try bytes.withUnsafeBytes { bytes in
                try codec.decode(UnsafeRawBufferPointer(rebasing: bytes[place...]), into: output)
            }
            place += progress.taken
            guard result.count + progress.written <= limit else {
                throw ImportRefusal(.tooLarge, "the body has more than \(limit) bytes without \(coding)")
            }
            result.append(contentsOf: output[..<progress.written])
            if codec.isComplete {
                let rest = bytes.dropFirst(place)
                if rest.isEmpty { return (result, 0) }
                if codec is ZlibCodec, coding != "deflate", rest.starts(with: [0x1F, 0x8B]) {
                    codec = ZlibCodec(.gzip)
                } else if !(codec is ZstandardCodec && Frame.begins(Data(rest.prefix(4)))) {
                    return (result, rest.count)
                }
            } else if progress.taken == 0, progress.written == 0 {
                throw Damage()
            }
        }
    }
}

extension Data {
    /// Whether the bytes are text, or a file of a kind that is known by its first bytes: hardly any compressed data are.
    fileprivate var isPlain: Bool {
        if Self.signatures.contains(where: starts(with:)) { return true }
        guard String(validating: self, as: UTF8.self) != nil else { return false }
        return allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0C || $0 == 0x0D }
    }

    /// PNG, JPEG, GIF, RIFF (WebP, WAV), WOFF, WOFF 2, PDF, zip, ICO, MP3.
    private static let signatures: [[UInt8]] =
        [[0x89, 0x50, 0x4E, 0x47], [0xFF, 0xD8, 0xFF], [0, 0, 1, 0], [0x50, 0x4B, 3, 4]]
        + ["GIF8", "RIFF", "wOFF", "wOF2", "%PDF-", "ID3"].map { Array($0.utf8) }
}
