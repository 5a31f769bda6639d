public import Foundation

extension PackManifest {
    /// Reads a manifest.
    ///
    /// - Throws: ``PackError`` with the code `invalidManifest`, or `unsupportedVersion` for a later format.
    public init(json: Data) throws(PackError) {
        let document: Document
        do {
            let format = try Self.decoder.decode(Format.self, from: json)
            guard format.formatVersion == Self.formatVersion else {
                throw PackError(
                    .unsupportedVersion,
                    "the manifest has format version \(format.formatVersion), but this Waystation reads "
                        + "\(Self.formatVersion): update the app, or build the pack with an older tool"
                )
            }
            document = try Self.decoder.decode(Document.self, from: json)
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(
                .invalidManifest,
                "the manifest is not in the expected format: \(error.place)",
                cause: error
            )
        }
        try self.init(
            module: document.module,
            version: document.version,
            baseURLs: document.baseURLs,
            released: document.released,
            minimumAppVersion: document.minimumAppVersion,
            minimumPackVersion: document.minimumPackVersion,
            files: document.files
        )
    }

    /// The manifest as JSON; the same manifest always gives the same bytes.
    public func json() throws(PackError) -> Data {
        do {
            return try Self.encoder.encode(
                Document(
                    formatVersion: Self.formatVersion,
                    module: module,
                    version: version,
                    baseURLs: baseURLs,
                    released: released,
                    minimumAppVersion: minimumAppVersion,
                    minimumPackVersion: minimumPackVersion,
                    files: files
                )
            )
        } catch {
            throw PackError(.invalidManifest, "the manifest of \(module) \(version) cannot be written", cause: error)
        }
    }

    private struct Format: Decodable { let formatVersion: Int }

    private struct Document: Codable {
        let formatVersion: Int
        let module: ModuleID
        let version: PackVersion
        let baseURLs: [String]
        let released: Date?
        let minimumAppVersion: PackVersion?
        let minimumPackVersion: PackVersion?
        let files: [PackedFile]
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
