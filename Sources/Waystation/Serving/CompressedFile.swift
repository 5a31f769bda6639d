import Foundation
import HTTPTypes
import WaystationArchive
import WaystationStorage

// An SVG in a gzip stream (`.svgz`) is a file whose bytes have a content coding. A load delivers it without the coding,
// as it delivers bodies from the network (trap L15).

extension OfflineFile {
    /// Whether the file's name is that of a file in a gzip stream.
    var hasCompressedName: Bool {
        path.utf8.suffix(5).elementsEqual(".svgz".utf8) { byte, expected in byte | 0x20 == expected }
    }
}

extension FileAnswer {
    /// The largest number of decompressed bytes, and of compressed ones.
    private static let limit = 16 << 20

    /// The answer without the content coding of its body; the same answer if its body has none.
    ///
    /// It reads the file.
    ///
    /// - Parameter url: The URL of the request, for the error.
    /// - Returns: The answer.
    /// - Throws: `dataLengthExceedsMaximum` if the compressed or the decompressed body has more than 16 MiB;
    ///   `cannotDecodeContentData` if the body is damaged or cannot be read.
    func decoded(for url: URL?) throws(URLError) -> FileAnswer {
        guard headerFields[.contentEncoding] != nil else { return self }
        var fields = headerFields
        // Ranges would count compressed bytes, but the client gets decompressed ones.
        for name in [HTTPField.Name.contentEncoding, .contentLength, .acceptRanges] { fields[name] = nil }
        guard length > 0 else { return FileAnswer(status: status, headerFields: fields, body: .empty) }
        let body: Data
        do {
            guard length <= Self.limit else { throw Inflater.Refusal.tooLarge }
            body = try Inflater.decompress(try Answer.Body(self.body).contents(), .gzip, limit: Self.limit)
        } catch Inflater.Refusal.tooLarge {
            let message = "the compressed file has more than \(Self.limit) bytes: store it without compression, as .svg"
            throw URLError(.dataLengthExceedsMaximum, failing: url, message)
        } catch Inflater.Refusal.damaged {
            let message = "the file is not a whole gzip stream: compress it again, or store it as .svg"
            throw URLError(.cannotDecodeContentData, failing: url, message)
        } catch {
            let message = "the file cannot be read: \(error)"
            throw URLError(.cannotDecodeContentData, failing: url, message, underlying: error)
        }
        fields[.contentLength] = "\(body.count)"
        return FileAnswer(status: status, headerFields: fields, body: .data(body))
    }
}
