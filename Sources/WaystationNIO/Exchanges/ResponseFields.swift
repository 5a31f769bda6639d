#if NIO
package import Foundation
import FoundationNetworking
package import NIOHTTP1
package import WaystationTransport

extension ResponseHead {
    /// The head as Foundation shows it: fields of the same name are joined with a comma (RFC 9110 §5.3).
    init(_ head: EngineResponseHead, url: URL) {
        var fields: [String: String] = [:]
        fields.reserveCapacity(head.fields.count + 1)
        var spellings: [String: String] = [:]
        for (name, value) in head.fields {
            let spelling = spellings[name.lowercased()] ?? name
            if let earlier = fields[spelling] {
                fields[spelling] = "\(earlier), \(value)"
            } else {
                fields[name] = value
                spellings[name.lowercased()] = name
            }
        }
        self.init(url: url, statusCode: head.status, fields: fields)
    }
}

extension ResponseHead {
    /// The head of a response on a connection that a ``ConnectionOpener`` has opened.
    package init(_ head: HTTPResponseHead, url: URL) { self.init(EngineResponseHead(head), url: url) }
}

extension EngineResponseHead {
    /// The content codings of the body, in the order in which they were applied, without `identity`
    /// (RFC 9110 §8.4).
    var contentCodings: [String] {
        fields.filter { FieldSyntax.isSame($0.name, "Content-Encoding") }
            .flatMap { $0.value.split(separator: ",") }
            .map { FieldSyntax.trimmed(String($0)).lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
    }
}
#endif
