#if Gateway
import Foundation
import FoundationNetworking
import Waystation
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
    /// Whether the body is longer than the text.
    let isCut: Bool

    init(_ load: LoadLog.Load) {
        let exchange = load.exchange
        let type = exchange.mediaType
        isCut = exchange.isBodyCut
        guard exchange.bodyLength > 0 else {
            (kind, text) = (.none, "The response has no body.")
            return
        }
        guard let body = exchange.body, !body.isEmpty else {
            (kind, text) = (.none, "The bodies of the last \(LoadLog.bodyCount) loads are kept, and this one is not.")
            return
        }
        if Self.imageTypes.contains(type) {
            let isWhole = !exchange.isBodyCut
            (kind, text) = isWhole ? (.image, "") : (.none, "The picture has more than \(body.count) bytes.")
        } else if type == "application/json" || type.hasSuffix("+json") {
            (kind, text) = (.json, Self.text(Redaction.standard.body(body, type: type)))
        } else if type.hasPrefix("text/") || Self.textTypes.contains(type) || type.hasSuffix("+xml") {
            (kind, text) = (.text, Self.text(body))
        } else {
            (kind, text) = (.none, "There is no preview of the type \(type.isEmpty ? "(none)" : type).")
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

    /// The text of bytes that may end within a character.
    private static func text(_ body: Data) -> String { String(decoding: body, as: UTF8.self) }
}

extension RecordedExchange {
    /// The type of the body in lower case, without parameters; empty if the response names no type.
    var mediaType: String {
        let field = response?.value(forHTTPHeaderField: "Content-Type") ?? ""
        return field.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }
}
#endif
