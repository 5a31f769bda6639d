#if NIO
package import NIOHTTP1
import WaystationHTTP
package import WaystationFoundation
package import Waystation

extension ResponseHead {
    /// The head as Foundation shows it: fields of the same name are joined with a comma (RFC 9110 §5.3).
    ///
    /// The fields of cookies are also kept as they are, because a cookie may contain a comma (RFC 6265 §3).
    init(_ head: EngineResponseHead, url: URL) {
        var fields: [String: String] = [:]
        fields.reserveCapacity(head.fields.count + 1)
        guard head.repeatsName else {
            for (name, value) in head.fields { fields[name] = value }
            self.init(url: url, statusCode: head.status, fields: fields, setCookieFields: head.setCookieFields)
            return
        }
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
        self.init(url: url, statusCode: head.status, fields: fields, setCookieFields: head.setCookieFields)
    }
}

extension ResponseHead {
    /// The head of a response on a connection that a ``ConnectionOpener`` has opened.
    package init(_ head: HTTPResponseHead, url: URL) { self.init(EngineResponseHead(head), url: url) }
}

extension EngineResponseHead {
    /// Whether a name may occur twice; most heads have each name once, and so few fields that comparing all is quick.
    fileprivate var repeatsName: Bool {
        guard fields.count <= 24 else { return true }
        return fields.indices.contains { index in
            fields[..<index].contains { $0.name.equalsIgnoringCase(fields[index].name) }
        }
    }

    /// The values of the `Set-Cookie` fields; nil if the response has no such field.
    fileprivate var setCookieFields: [String]? {
        let values = fields.compactMap { $0.name.equalsIgnoringCase("Set-Cookie") ? $0.value : nil }
        return values.isEmpty ? nil : values
    }

    /// The content codings of the body.
    var contentCodings: ContentCodings {
        ContentCodings(fields.compactMap { $0.name.equalsIgnoringCase("Content-Encoding") ? $0.value : nil })
    }
}
#endif
