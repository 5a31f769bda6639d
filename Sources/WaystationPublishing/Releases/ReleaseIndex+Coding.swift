public import Foundation
public import WaystationPacks

extension ReleaseIndex {
    private struct Format: Decodable { let formatVersion: Int }

    /// Reads `releases.json`.
    init(json: Data, path: String) throws(PackError) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            let format = try decoder.decode(Format.self, from: json).formatVersion
            guard format == Self.currentFormatVersion else {
                throw PackError(
                    .unsupportedVersion,
                    "\(path) has format version \(format), but only version \(Self.currentFormatVersion) is supported: "
                        + "use the tool that wrote it, or a newer one"
                )
            }
            self = try decoder.decode(ReleaseIndex.self, from: json)
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(
                .damaged,
                "\(path) cannot be read: restore it from a backup; only the publisher writes it",
                cause: error
            )
        }
    }

    /// The index as JSON: dates in the form of RFC 3339, members sorted by name.
    ///
    /// - Throws: ``WaystationPacks/PackError`` when it cannot be written.
    public func json() throws(PackError) -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(self)
        } catch {
            throw PackError(.invalidArgument, "the release index cannot be written as JSON", cause: error)
        }
    }
}
