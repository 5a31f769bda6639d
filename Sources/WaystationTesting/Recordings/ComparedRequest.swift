import Foundation
import WaystationRecording

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request without secrets, as it is compared; what is not compared is not made.
struct ComparedRequest {
    let method: String
    /// The URL without its fragment.
    let url: String
    /// Returns the values of a header field.
    let values: (_ field: String) -> String
    /// Returns the body as text; nil if the request has no body.
    let body: () -> String?

    /// A request that is made now.
    init(_ request: URLRequest, _ redaction: Redaction) {
        method = request.httpMethod ?? "GET"
        url = redaction.url(withoutFragment: request.url?.absoluteString ?? "")
        values = { name in request.value(forHTTPHeaderField: name).map { redaction.value($0, ofField: name) } ?? "" }
        body = { HARArchive.Request(request, redaction).postData?.text }
    }

    /// A request of a recording, which another program may have made.
    init(_ recorded: HARArchive.Request, _ redaction: Redaction) {
        method = recorded.method
        url = redaction.url(withoutFragment: recorded.url)
        values = { name in
            recorded.headers.filter { $0.name.lowercased() == name.lowercased() }
                .map { redaction.value($0.value, ofField: $0.name) }.joined(separator: ", ")
        }
        body = {
            guard let body = recorded.postData, body.encoding == nil else { return recorded.postData?.text }
            return String(decoding: redaction.body(Data(body.text.utf8), type: body.mimeType), as: UTF8.self)
        }
    }
}

/// The parts in which requests and recorded requests are compared.
struct RequestComparison: Sendable {
    let parts: [RecordedPart]
    let redaction: Redaction

    /// The values of the parts, in their order.
    func key(of request: URLRequest) -> [ExactText] { key(of: ComparedRequest(request, redaction)) }

    /// The values of the parts, in their order.
    func key(of request: HARArchive.Request) -> [ExactText] { key(of: ComparedRequest(request, redaction)) }

    private func key(of request: ComparedRequest) -> [ExactText] { parts.map { ExactText($0.value(request)) } }
}

/// A text that equals only the same bytes; Swift's texts also equal those with other code points for the same characters.
struct ExactText: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactText, right: ExactText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Redaction {
    fileprivate func url(withoutFragment text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "#")) else { return url(text) }
        return url(String(text.prefix { $0 != "#" }))
    }
}
