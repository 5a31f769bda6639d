package import Foundation
import WaystationArchive
import WaystationFields
import WaystationFileSystem

extension HARArchive.Response {
    /// The body's bytes.
    ///
    /// - Parameters:
    ///   - folder: The folder of the HAR file, in which bodies may be files of their own; nil if the recording has no
    ///     folder. Such bodies cannot be read then.
    ///   - limit: The most bytes of a body that is a file of its own; 512 MiB by default.
    /// - Returns: The body, without codings.
    /// - Throws: ``ImportRefusal`` with the reason why the body cannot be had.
    package func body(in folder: URL? = nil, limit: Int = 512 << 20) throws(ImportRefusal) -> Data {
        guard !content.isTruncated else {
            throw ImportRefusal(.incomplete, "the recording has \(content.text == nil ? "no" : "a") part of its body")
        }
        if let file = content.file, content.text == nil { return try Self.contents(of: file, in: folder, limit) }
        guard let text = content.text else {
            let isEmpty = content.size == 0 || 300...399 ~= status || status == 204
            guard isEmpty else { throw ImportRefusal(.noBody, "the recording does not have its body") }
            return Data()
        }
        if content.isBinary { return try binaryBody(text) }
        if let body = unmarkedBinaryBody(text) { return body }
        return try content.bytes(of: text)
    }

    /// The body of a file beside the recording, which cannot be outside of the recording's folder.
    private static func contents(of file: String, in folder: URL?, _ limit: Int) throws(ImportRefusal) -> Data {
        guard let folder else { throw ImportRefusal(.noBody, "the body is in the file \(file.shown(upTo: 80))") }
        let length: Int
        do {
            let path = folder.path(percentEncoded: false)
            let source = try FileSource(LocalFileSystem().openFile(file, below: path))
            length = source.length
            if length <= limit { return try source.read(at: 0, count: length) }
        } catch {
            throw ImportRefusal(
                .noBody,
                "the body should be in the file \(file.shown(upTo: 80)), which cannot be read: \(error)"
            )
        }
        throw ImportRefusal(.tooLarge, "the file \(file.shown(upTo: 80)) has \(length) bytes, but \(limit) are allowed")
    }

    /// The body as Polly.js wrote it up to its version 1: a JSON array of hexadecimal digits, with its content coding and
    /// without a mark; nil for any other text.
    private func unmarkedBinaryBody(_ text: String) -> Data? {
        guard text.hasPrefix("[\""), content.encoding == nil, coding != nil else { return nil }
        return try? binaryBody(text)
    }

    private var coding: String? { headers.first { $0.name.lowercased() == "content-encoding" }?.value }

    /// The body as Polly.js writes it: one text, or a JSON array with one text for each part, with its content coding.
    private func binaryBody(_ text: String) throws(ImportRefusal) -> Data {
        let parts = (try? JSONDecoder().decode([String].self, from: Data(text.utf8))) ?? [text]
        var body = Data()
        for part in parts {
            if content.encoding == nil {
                guard let bytes = Data(hexadecimal: part) else {
                    throw ImportRefusal(.damagedBody, "the body is neither Base64 nor hexadecimal digits")
                }
                body += bytes
            } else {
                body += try content.bytes(of: part)
            }
        }
        return try ContentCoding.decode(body, coding ?? "", limit: 512 << 20, brotli: .shared)
    }
}

extension HARArchive.Content {
    /// The bytes of the text, without its encoding.
    fileprivate func bytes(of text: String) throws(ImportRefusal) -> Data {
        switch encoding?.lowercased() {
        case nil: return Data(text.utf8)
        case "base64":
            guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
                throw ImportRefusal(.damagedBody, "the body is not valid Base64")
            }
            return data
        case let encoding?:
            throw ImportRefusal(.damagedBody, "the body has the unknown encoding \(encoding.shown(upTo: 20))")
        }
    }
}

extension Data {
    /// Makes bytes of pairs of hexadecimal digits; nil for other text.
    fileprivate init?(hexadecimal text: String) {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        self.init(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}
