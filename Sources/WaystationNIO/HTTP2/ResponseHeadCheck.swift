#if NIO
import NIOHPACK
import WaystationFields

/// The rules for the head of a response (RFC 9113 §8.3.2) that the codec leaves open.
enum ResponseHeadCheck {
    /// Reads a head.
    ///
    /// - Parameters:
    ///   - headers: The decoded header block.
    ///   - maximumFields: The number of fields that are accepted.
    /// - Returns: The head, or the failure of the exchange.
    static func read(_ headers: HPACKHeaders, maximumFields: Int) -> Result<EngineResponseHead, ExchangeFailure> {
        guard headers.count <= maximumFields else {
            return .failure(
                ExchangeFailure(
                    kind: .limitExceeded,
                    explanation: """
                        The head of the response has \(headers.count) fields; \(maximumFields) are accepted. Raise the limit \
                        if the server can be trusted.
                        """
                )
            )
        }
        var status: Int?
        var fields: [(name: String, value: String)] = []
        fields.reserveCapacity(headers.count)
        for (name, value, _) in headers {
            guard name.utf8.first == UInt8(ascii: ":") else {
                fields.append((name, value))
                continue
            }
            guard name == ":status", status == nil, let number = statusCode(value) else {
                let field = "\(name.shown()) with the value \(value.quoted())"
                return .failure(.malformed("The response has the pseudo-field \(field)."))
            }
            status = number
        }
        guard let status else { return .failure(.malformed("The response has no :status.")) }
        let hasLostBytes = fields.contains { _, value in
            value.utf8.contains(0xEF) && value.unicodeScalars.contains("\u{FFFD}")
        }
        return .success(EngineResponseHead(status: status, fields: fields, hasLostBytes: hasLostBytes))
    }

    /// Three digits (RFC 9110 §15); 100 is the smallest status there is.
    private static func statusCode(_ value: String) -> Int? {
        guard value.utf8.count == 3, value.utf8.allSatisfy(isDigit), let number = Int(value), number >= 100 else {
            return nil
        }
        return number
    }

    /// The length that a head announces; nil if it announces none.
    ///
    /// The field may occur more than once, with the same value (RFC 9110 §8.6).
    static func contentLength(_ fields: [(name: String, value: String)]) -> Result<Int64?, ExchangeFailure> {
        var length: Int64?
        for (name, value) in fields where name == "content-length" {
            for member in value.split(separator: ",", omittingEmptySubsequences: false) {
                let digits = member.drop { $0 == " " }
                guard !digits.isEmpty, digits.utf8.allSatisfy(isDigit), let number = Int64(digits),
                    length == nil || length == number
                else { return .failure(.malformed("The response has the Content-Length \(value.quoted()).")) }
                length = number
            }
        }
        return .success(length)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
#endif
