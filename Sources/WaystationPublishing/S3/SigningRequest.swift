import Foundation
import WaystationCryptography
import WaystationFields

/// A request as Signature Version 4 of AWS signs it: a function of values, without a clock.
///
/// The query items and the path are given as they are sent, percent-encoded once. All fields are signed.
struct SigningRequest: Sendable {
    var method: String
    /// The percent-encoded path, which begins with `/`.
    var path: String
    /// Names and values, percent-encoded.
    var query: [(name: String, value: String)] = []
    /// All fields to sign, `host` and `x-amz-date` among them.
    var fields: [(name: String, value: String)]
    /// The SHA-256 of the body in hexadecimal digits.
    var payload: String

    /// The value of the field `Authorization`; `now` is the time of the field `x-amz-date`.
    func authorization(_ scope: SigningScope, now: Date) -> String {
        let credential = "\(scope.credentials.accessKey)/\(scope.description(now: now))"
        let signature = AuthenticationCode.of(Array(text(scope, now: now).utf8), key: scope.key(now: now))
        return "\(SigningScope.algorithm) Credential=\(credential), SignedHeaders=\(signedNames), "
            + "Signature=\(signature.hexadecimal)"
    }

    /// The canonical form of the request.
    var canonical: String {
        let items = query.sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }
        let lines = sortedFields.map { "\($0.name):\($0.value)\n" }.joined()
        return [method, path, items.joined(separator: "&"), lines, signedNames, payload].joined(separator: "\n")
    }

    /// The text that is signed.
    func text(_ scope: SigningScope, now: Date) -> String {
        let digest = MessageDigest.of(Array(canonical.utf8)).hexadecimal
        return [SigningScope.algorithm, SigningScope.time(now), scope.description(now: now), digest]
            .joined(separator: "\n")
    }

    private var signedNames: String { sortedFields.map(\.name).joined(separator: ";") }

    private var sortedFields: [(name: String, value: String)] {
        fields.map { field in
            // Runs of spaces count as one.
            let words = field.value.split(separator: " ", omittingEmptySubsequences: true)
            return (field.name.lowercased(), words.joined(separator: " "))
        }
        .sorted { $0.name < $1.name }
    }
}

/// The region, the service and the credentials of a signature.
struct SigningScope: Sendable {
    static let algorithm = "AWS4-HMAC-SHA256"

    var credentials: S3Credentials
    var region: String
    var service = "s3"

    /// The time in the form `20130524T000000Z`.
    static func time(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
    }

    func description(now: Date) -> String { "\(Self.time(now).prefix(8))/\(region)/\(service)/aws4_request" }

    fileprivate func key(now: Date) -> [UInt8] {
        let day = String(Self.time(now).prefix(8))
        return [day, region, service, "aws4_request"].reduce(Array("AWS4\(credentials.secretKey)".utf8)) { key, part in
            AuthenticationCode.of(Array(part.utf8), key: key)
        }
    }
}
