public import Foundation
import WaystationFields

extension Catalogue {
    /// The signed catalogue in the form that is published: a ``SignedEnvelope`` in JSON.
    ///
    /// The same catalogue and keys give the same payload bytes each time.
    ///
    /// - Throws: ``PackError`` with ``PackError/Code/badAnswer`` when the catalogue contradicts itself, since no client
    ///   would accept it.
    public func signed(by keys: [SigningKey]) throws -> Data {
        try validate()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        do {
            let envelope = try SignedEnvelope(encoder.encode(self), type: Self.mediaType, signedBy: keys)
            return try encoder.encode(envelope)
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.invalidArgument, "the catalogue cannot be written as JSON", cause: error)
        }
    }

    /// Reads a signed catalogue and checks it.
    ///
    /// - Parameters:
    ///   - envelope: The bytes as they were fetched.
    ///   - keys: The trusted keys.
    ///   - threshold: How many different keys must have signed; 1 by default.
    ///   - state: The state after the last accepted catalogue; nil before the first.
    ///   - now: The present.
    /// - Returns: The catalogue, and the state to store.
    /// - Throws: ``PackError``: ``PackError/Code/untrusted`` when valid signatures are missing,
    ///   ``PackError/Code/rolledBack`` when the catalogue is older than the last one or differs from it under the same
    ///   serial number, ``PackError/Code/expired``, ``PackError/Code/unsupportedVersion``, and
    ///   ``PackError/Code/badAnswer`` when it cannot be read or contradicts itself.
    public static func opening(
        _ envelope: Data,
        signedBy keys: [TrustedKey],
        threshold: Int = 1,
        after state: CatalogueState?,
        now: Date
    ) throws -> (catalogue: Catalogue, state: CatalogueState) {
        let payload = try decode(SignedEnvelope.self, from: envelope, "the signed envelope")
            .payload(ofType: mediaType, signedBy: keys, threshold: threshold)
        // The version of the format is read first, since a newer format may not be readable as this one.
        let format = try decode(Format.self, from: payload, "the catalogue").formatVersion
        guard format == currentFormatVersion else {
            throw PackError(
                .unsupportedVersion,
                "the catalogue is written in version \(format) of its format, but only version 1 is supported: "
                    + "update the app"
            )
        }
        let catalogue = try decode(Catalogue.self, from: payload, "the catalogue")
        try catalogue.validate()
        let next = CatalogueState(serial: catalogue.serial, digest: PackDigest(of: payload))
        if let state {
            guard next.serial >= state.serial else {
                throw PackError(
                    .rolledBack,
                    "the catalogue has serial number \(next.serial), but \(state.serial) was accepted before: "
                        + "the server, or an attacker on the network, delivers an old one"
                )
            }
            guard next.serial > state.serial || next.digest == state.digest else {
                throw PackError(
                    .rolledBack,
                    "another catalogue with serial number \(next.serial) was accepted before: publish under a new number"
                )
            }
        }
        guard now < catalogue.expires else {
            throw PackError(
                .expired,
                "the catalogue was valid until \(catalogue.expires.formatted(.iso8601)): publish a new one, or correct "
                    + "this machine's clock"
            )
        }
        return (catalogue, next)
    }

    private struct Format: Decodable { let formatVersion: Int }

    private static func decode<Value: Decodable>(_ type: Value.Type, from data: Data, _ name: String) throws -> Value {
        let decoder = JSONDecoder()
        // `.iso8601` is not used, since its error does not say which date is wrong.
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = try? Date(text, strategy: .iso8601) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "\(text.quoted()) is not a date and time: write it as 2026-11-21T18:00:00Z"
                )
            }
            return date
        }
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw PackError(.badAnswer, "\(name) is not in the expected format: \(error.place)", cause: error)
        }
    }
}
