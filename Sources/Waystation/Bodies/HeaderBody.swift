import HTTPTypes
public import WaystationFoundation
import WaystationHTTP
public import WaystationStorage

/// A request body that is sent in a header field, for pages in a web view that loses the bodies of their requests.
///
/// ```swift
/// $0.headerBody = HeaderBody()  // x-weimai-h5body: %7B%22a%22%3A1%7D
/// ```
/// When a rule takes a request with this field, the decoded value of the field becomes the request's body. The field
/// itself is removed before the request is used for anything else: no server, cache key, recording or redirect contains
/// it.
///
/// **Form.** The value of ``name`` is the body in ``encoding``. If the header has a field `<name>-encoding`, its value
/// is the encoding instead: `percent` or `base64`. A long body is split over `<name>-1`, `<name>-2`, …: their values
/// are joined in the order of their numbers, which have no gap and no leading zero. White space around a value is
/// ignored (RFC 9110 §5.5). An empty value is an empty body.
///
/// **What is sent.** The decoded bytes, with the request's own `Content-Type`. If the request has no `Content-Type`,
/// this form adds none, so Foundation adds the one that it adds to any body. `Content-Length` and `Transfer-Encoding`
/// of the app are replaced by the correct values. If the request already has a body that is not empty, or a stream,
/// that body is sent instead.
///
/// **Errors.** A damaged encoding, a gap in the numbers, and more than ``limit`` bytes end the load before anything is
/// sent, with `URLError.cannotDecodeContentData` or `.dataLengthExceedsMaximum`. Its underlying error is a
/// ``WaystationError`` that names the field and the position. A body for GET or HEAD, which have none (RFC 9110
/// §9.3.1), is an error too: Foundation also refuses them.
///
/// Uploads are left to Foundation unchanged, with all their header fields.
public struct HeaderBody: Sendable, Hashable {
    /// How a field's value encodes the bytes of a body.
    public struct Encoding: Sendable, Hashable, CustomStringConvertible {
        /// The name of the encoding, as the field `<name>-encoding` contains it.
        public let description: String

        /// Percent-encoding (RFC 3986 §2.1): `%` and two hexadecimal digits are a byte; every other visible ASCII
        /// character stands for itself.
        ///
        /// `+` is a plus sign, as `encodeURIComponent` treats it.
        public static let percent = Encoding(description: "percent")
        /// Base64 (RFC 4648 §4) or base64url (§5), with or without padding.
        public static let base64 = Encoding(description: "base64")
    }

    /// The name of the field; `x-weimai-h5body` by default.
    public var name: String
    /// The encoding of a request that does not name one; `percent` by default.
    public var encoding: Encoding
    /// The maximum size of a decoded body; 1 MiB by default.
    public var limit: ByteCount

    /// Makes the form in which pages send their bodies.
    public init(
        name: String = "x-weimai-h5body",
        encoding: Encoding = .percent,
        limit: ByteCount = .mebibytes(1)
    ) {
        self.name = name
        self.encoding = encoding
        self.limit = limit
    }
}

extension HeaderBody {
    /// The fields that carry a body.
    ///
    /// - Parameters:
    ///   - body: The bytes.
    ///   - encoding: The encoding of the bytes; ``encoding`` when nil. An encoding other than ``encoding`` is named in
    ///     the field `<name>-encoding`.
    ///   - fieldLength: The maximum number of characters of one value, at least 3: a longer body is split over several
    ///     fields.
    /// - Returns: The fields by name.
    public func fields(
        for body: Data,
        encoding: Encoding? = nil,
        fieldLength: Int = 8_000
    ) -> [String: String] {
        let chosen = encoding ?? self.encoding
        let text = chosen == .base64 ? Array(body.base64EncodedData()) : body.percentEncoded
        var fields: [String: String] = chosen == self.encoding ? [:] : [encodingName: chosen.description]
        guard text.count > max(3, fieldLength) else {
            fields[name] = String(decoding: text, as: UTF8.self)
            return fields
        }
        var rest = text[...]
        var number = 1
        while !rest.isEmpty {
            let part = rest.prefix(max(3, fieldLength))
            fields["\(name)-\(number)"] = String(decoding: part, as: UTF8.self)
            rest = rest.dropFirst(part.count)
            number += 1
        }
        return fields
    }

    private var encodingName: String { name + "-encoding" }
}

extension HeaderBody {
    /// The result for a request whose header has fields of this form.
    package enum Outcome: Sendable {
        /// The load continues with this request, which no longer has those fields.
        case request(URLRequest)
        /// The request must not be sent. The attached request can be shown in errors and events.
        case failure(URLRequest, URLError)
    }

    /// Moves the body from a request's header into its body; nil when the header has no field of this form.
    package func take(from request: URLRequest) -> Outcome? {
        guard let fields = request.allHTTPHeaderFields, fields.keys.contains(where: owns) else { return nil }
        var next = request
        for field in fields.keys where owns(field) { next.setValue(nil, forHTTPHeaderField: field) }
        let carriesBody = request.httpBodyStream != nil || !(request.httpBody?.isEmpty ?? true)
        guard !carriesBody else { return .request(next) }
        do throws(WaystationError) {
            guard let body = try body(in: fields) else { return .request(next) }
            let method = request.httpMethod ?? "GET"
            guard body.isEmpty || !["GET", "HEAD"].contains(method) else {
                let message = "\(name) has a body, but a \(method) request has none: send it with POST"
                throw WaystationError(.invalidHeaderBody, message)
            }
            return .request(next.carrying(body))
        } catch {
            return .failure(next, failure(of: next, error))
        }
    }

    private func failure(of request: URLRequest, _ error: WaystationError) -> URLError {
        URLError(
            error.code == .headerBodyTooLarge ? .dataLengthExceedsMaximum : .cannotDecodeContentData,
            failing: request.url,
            error.message,
            underlying: error
        )
    }

    /// Throws when the configured name is not a valid field name.
    func check() throws(WaystationError) {
        guard HTTPField.Name(name) == nil else { return }
        throw WaystationError(.invalidHeaderBody, "\(name.quoted()) is not a valid header field name (RFC 9110 §5.1)")
    }
}

extension URLRequest {
    /// The request with this body, without the app's own framing fields: the transport sends the body's real length.
    func carrying(_ body: Data) -> URLRequest {
        var request = framedByTransport
        request.httpBody = body
        return request
    }

    /// The request without the framing fields that the app set for its body.
    ///
    /// Foundation sends a stream chunked, with the app's `Content-Length` beside it: two framings in one message, which
    /// RFC 9112 §6.2 forbids, since servers disagree about where such a message ends.
    var framedByTransport: URLRequest {
        var request = self
        for name in ["Content-Length", "Transfer-Encoding"] { request.setValue(nil, forHTTPHeaderField: name) }
        return request
    }
}

extension HeaderBody {
    /// The body that header fields carry; nil when they carry none.
    ///
    /// - Throws: ``WaystationError`` that names the field and the position of the fault, with the code
    ///   `invalidHeaderBody` or `headerBodyTooLarge`.
    package func body(in fields: [String: String]) throws(WaystationError) -> Data? {
        let found = try find(in: fields)
        guard !found.parts.isEmpty else {
            guard let field = found.encoding else { return nil }
            throw invalid("the header has \(field.name), but no \(name) that it applies to: send both, or neither")
        }
        switch try encoding(of: found) {
        case .base64: return try base64Decoded(found.parts)
        default: return try percentDecoded(found.parts)
        }
    }

    /// Whether a field is one of this form's fields, whatever its value.
    package func owns(_ field: String) -> Bool {
        let field = field.lowercased()
        let name = name.lowercased()
        guard field.hasPrefix(name) else { return false }
        let suffix = field.dropFirst(name.count)
        return suffix.isEmpty || suffix == "-encoding" || Self.number(after: suffix) != nil
    }

    // MARK: - Finding the fields

    private struct Part {
        let name: String
        let value: [UInt8]
    }

    private struct Found {
        var parts: [Part] = []
        var encoding: (name: String, value: String)?
    }

    /// The digits of `-12`.
    private static func number(after suffix: Substring) -> Substring? {
        guard suffix.first == "-", suffix.count > 1 else { return nil }
        let digits = suffix.dropFirst()
        return digits.utf8.isDecimal ? digits : nil
    }

    private func find(in fields: [String: String]) throws(WaystationError) -> Found {
        var found = Found()
        var whole: Part?
        var numbered: [Int: Part] = [:]
        let length = name.count
        for (field, value) in fields where owns(field) {
            let text = value.trimmingSpace()
            let suffix = field.lowercased().dropFirst(length)
            // Uses the name as it is configured, because Foundation changes the case of names.
            let field = name + suffix
            let part = Part(name: field, value: Array(text.utf8))
            if suffix.isEmpty {
                guard whole == nil else { throw invalid("the header has \(field) more than once: send it once") }
                whole = part
            } else if let digits = Self.number(after: suffix) {
                guard digits.first != "0", let number = Int(digits) else {
                    throw invalid("the number in \(field) is not valid: number the parts from 1, without leading zeros")
                }
                guard numbered.updateValue(part, forKey: number) == nil else {
                    throw invalid("the header has \(field) more than once: send it once")
                }
            } else {
                guard found.encoding == nil else {
                    throw invalid("the header has \(field) more than once: send it once")
                }
                found.encoding = (field, text)
            }
        }
        if let whole {
            guard numbered.isEmpty else {
                throw invalid("the header has both \(whole.name) and numbered parts: send one or the other")
            }
            found.parts = [whole]
        } else if !numbered.isEmpty {
            for number in 1...numbered.count {
                guard let part = numbered[number] else {
                    throw invalid("part \(name)-\(number) of \(numbered.count) or more is missing: send all parts")
                }
                found.parts.append(part)
            }
        }
        return found
    }

    private func encoding(of found: Found) throws(WaystationError) -> Encoding {
        guard let (field, value) = found.encoding else { return encoding }
        switch value.lowercased() {
        case Encoding.percent.description: return .percent
        case Encoding.base64.description: return .base64
        default: throw invalid("\(field) is \(value.quoted(upTo: 40)): only percent and base64 are supported")
        }
    }

    // MARK: - Decoding

    private func percentDecoded(_ parts: [Part]) throws(WaystationError) -> Data {
        var body: [UInt8] = []
        /// The digits and the start of an escape that is not complete yet.
        var escape: (digits: [UInt8], part: Int, offset: Int)?
        for (index, part) in parts.enumerated() {
            for (offset, byte) in part.value.enumerated() {
                if var open = escape {
                    guard let digit = byte.hexadecimalDigit else {
                        throw incomplete(parts[open.part], open.offset)
                    }
                    open.digits.append(digit)
                    escape = open
                    if open.digits.count == 2 {
                        body.append(open.digits[0] << 4 | open.digits[1])
                        escape = nil
                    }
                } else if byte == UInt8(ascii: "%") {
                    escape = ([], index, offset)
                } else if (0x21...0x7E).contains(byte) {
                    body.append(byte)
                } else {
                    throw invalid(
                        """
                        \(part.name) has the byte 0x\(String(byte, radix: 16)) at offset \(offset): write \
                        each byte that is not a visible ASCII character as % and two hexadecimal digits
                        """
                    )
                }
                guard body.count <= limit.bytes else { throw tooLarge }
            }
        }
        if let escape { throw incomplete(parts[escape.part], escape.offset) }
        return Data(body)
    }

    private func incomplete(_ part: Part, _ offset: Int) -> WaystationError {
        invalid(
            """
            \(part.name) has a % at offset \(offset) without two hexadecimal digits after it: write %25 for a percent \
            sign
            """
        )
    }

    /// Decodes base64 without Foundation's decoder, which does not report where it stopped and accepts only one
    /// alphabet.
    private func base64Decoded(_ parts: [Part]) throws(WaystationError) -> Data {
        var body: [UInt8] = []
        var bits: UInt32 = 0
        var digits = 0
        var padding = 0
        for part in parts {
            for (offset, byte) in part.value.enumerated() {
                if byte == UInt8(ascii: "=") {
                    padding += 1
                    continue
                }
                guard padding == 0, let digit = Self.sextet(byte) else {
                    throw invalid(
                        padding > 0
                            ? "\(part.name) continues at offset \(offset) after the base64 padding: send one body"
                            : "\(part.name) has a byte at offset \(offset) that is not base64: see RFC 4648 §4, §5"
                    )
                }
                bits = bits << 6 | UInt32(digit)
                digits += 1
                if digits % 4 == 0 {
                    body += [UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8)]
                    body.append(UInt8(truncatingIfNeeded: bits))
                    bits = 0
                    guard body.count <= limit.bytes else { throw tooLarge }
                }
            }
        }
        let rest = digits % 4
        // Bits that belong to no byte must be zero (RFC 4648 §3.5); otherwise a digit was lost or changed.
        let isCanonical = rest == 2 ? bits & 0xF == 0 : rest == 3 ? bits & 0x3 == 0 : true
        guard rest != 1, isCanonical, padding == 0 || (rest > 0 && padding == 4 - rest) else {
            let last = parts.last?.name ?? name
            throw invalid("\(last) has incomplete base64 or wrong padding at its end: send all of it")
        }
        if rest == 2 { body.append(UInt8(truncatingIfNeeded: bits >> 4)) }
        if rest == 3 {
            body += [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)]
        }
        guard body.count <= limit.bytes else { throw tooLarge }
        return Data(body)
    }

    private static func sextet(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    // MARK: - Errors

    private func invalid(_ message: String) -> WaystationError { WaystationError(.invalidHeaderBody, message) }

    private var tooLarge: WaystationError {
        WaystationError(
            .headerBodyTooLarge,
            "the body in \(name) has more than \(limit): send it as a body, or raise the limit of HeaderBody"
        )
    }
}
