import Foundation
import HTTPTypes

/// What a client asks for one after another, and what the origin would answer each time.
struct Conversation: Decodable {
    /// A request and its answers, as the generator writes them.
    struct Step: Decodable {
        /// When the request is made, and when the head of an answer is there; in seconds since 1970.
        var sent: Int
        var received: Int
        var request: Request
        var response: Response
        /// The answer to a conditional request instead, where the origin has one.
        var notModified: Response?
    }

    struct Request: Decodable {
        var method: String
        var url: String
        var fields: [[String]]
    }

    struct Response: Decodable {
        var status: Int
        var fields: [[String]]
    }

    var number: Int
    var steps: [Step]
}

/// What a cache did in one step; the same words for each cache that is compared.
struct Report: Encodable {
    /// `hit`, `stale`, `validate`, `forward` or `timeout`.
    var verdict: String
    /// What is sent of a stored response: `whole`, `head`, `notModified`, `part`, `rangeNotSatisfiable`.
    var answer: String?
    /// The step whose body the client gets, where that is a stored one.
    var body: Int?
    /// What the answer of the network came to: `stored`, `refused`, `freshened`, `standIn`.
    var outcome: String?
}

struct Unreadable: Error, CustomStringConvertible { let description: String }

extension Conversation.Step {
    var sentDate: Date { Date(timeIntervalSince1970: Double(sent)) }
    var receivedDate: Date { Date(timeIntervalSince1970: Double(received)) }
}

extension Conversation.Request {
    func message() throws -> HTTPRequest {
        guard let method = HTTPRequest.Method(method), let parts = URLComponents(string: url), let host = parts.host
        else { throw Unreadable(description: "no request: \(self)") }
        return HTTPRequest(
            method: method,
            scheme: parts.scheme,
            authority: host,
            path: parts.path + (parts.query.map { "?\($0)" } ?? ""),
            headerFields: try HTTPFields(pairs: fields)
        )
    }
}

extension Conversation.Response {
    func message() throws -> HTTPResponse {
        HTTPResponse(status: .init(code: status), headerFields: try HTTPFields(pairs: fields))
    }
}

extension HTTPFields {
    fileprivate init(pairs: [[String]]) throws {
        self.init()
        for pair in pairs {
            guard pair.count == 2, let name = HTTPField.Name(pair[0]) else {
                throw Unreadable(description: "no field: \(pair)")
            }
            append(HTTPField(name: name, value: pair[1]))
        }
    }
}
