#if Gateway
import Waystation
import WaystationHTTP
import WaystationFoundation
import WaystationRecording

/// The beginning of a response's body, as far as the page can show it.
struct BodyPreview: Encodable, Sendable {
    enum Kind: String, Encodable, Sendable {
        case none, text, json
        /// The page asks for the picture by the number of the load.
        case image
    }

    let kind: Kind
    /// The text; for `none` the reason why there is no preview.
    let text: String
    /// Whether the body is longer than the text that is shown of it.
    let isCut: Bool

    init(_ load: LoadLog.Load) {
        let exchange = load.exchange
        let type = exchange.mediaType
        // The rest of a body whose load was cancelled or has failed never arrived.
        isCut = exchange.isBodyCut || exchange.error != nil
        guard let body = exchange.body, !body.isEmpty else {
            (kind, text) = (.none, Self.reasonWithoutBody(load))
            return
        }
        if Self.imageTypes.contains(type) {
            (kind, text) = isCut ? (.none, "Only the first \(body.count) bytes of the picture are kept.") : (.image, "")
        } else if type == "application/json" || type.hasSuffix("+json") {
            (kind, text) = (.json, Self.text(body, type))
        } else if type.hasPrefix("text/") || Self.textTypes.contains(type) || type.hasSuffix("+xml") {
            (kind, text) = (.text, Self.text(body, type))
        } else {
            let reason = type.isEmpty ? "The response names no Content-Type" : "The type is \(type)"
            (kind, text) = (.none, "\(reason), so there is no preview.")
        }
    }

    private static func reasonWithoutBody(_ load: LoadLog.Load) -> String {
        let exchange = load.exchange
        return if case .refused = load.ending {
            "The gateway sent the reason of its refusal."
        } else if exchange.response == nil {
            "No response arrived."
        } else if exchange.bodyLength > 0 {
            "This body was not kept: only the bodies of the last \(LoadLog.bodyCount) loads are."
        } else if exchange.body == nil {
            "The body was not recorded."
        } else {
            "The response has no body."
        }
    }

    /// A picture that a browser shows without running anything in it.
    static func image(_ load: LoadLog.Load) -> InspectorResponse? {
        guard BodyPreview(load).kind == .image, let body = load.exchange.body else { return nil }
        return InspectorResponse(type: load.exchange.mediaType, [UInt8](body))
    }

    private static let imageTypes: Set<String> = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/x-icon",
        "image/vnd.microsoft.icon",
    ]
    private static let textTypes: Set<String> = [
        "application/javascript", "application/x-javascript", "application/ecmascript", "application/xml",
        "application/x-www-form-urlencoded",
    ]

    /// The text of bytes that may end within a character, without secrets.
    private static func text(_ body: Data, _ type: String) -> String {
        String(decoding: Redaction.standard.responseBody(body, type: type), as: UTF8.self)
    }
}

extension RecordedExchange {
    /// The type of the body in lower case, without parameters; empty if the response names no type.
    var mediaType: String {
        ParameterizedValue(response?.value(forHTTPHeaderField: "Content-Type") ?? "").value
    }
}
#endif
