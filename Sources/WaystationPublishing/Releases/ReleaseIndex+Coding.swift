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

    /// The error for a place that has files of releases, but no index.
    ///
    /// The index is written before the catalogue, so it must have been deleted if there is a catalogue. An index made
    /// anew would not know the files that clients need, and clients would refuse its catalogues, whose serial numbers
    /// would begin again.
    static func missing(at place: String, beside file: String) -> PackError {
        PackError(
            .damaged,
            "\(place) has \(file), but no releases.json; nothing was changed: restore releases.json from a backup, or "
                + "in a bucket from an earlier version of the object"
        )
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
