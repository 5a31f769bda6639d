import Foundation
import HTTPTypes

/// The requests of a client, one after another, each with the response that the origin would send.
struct Conversation: Decodable {
    /// A request and its responses, as the generator writes them.
    struct Step: Decodable {
        /// The time of the request and the time at which the head of a response has arrived, in seconds since 1970.
        var sent: Int
        var received: Int
        var request: Request
        var response: Response
        /// The response to a conditional request in place of `response`, if the origin has one.
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

/// The behaviour of a cache in one step, with the same words for each cache that is compared.
struct Report: Encodable {
    /// `hit`, `stale`, `validate`, `forward` or `timeout`.
    var verdict: String
    /// The form in which a stored response is sent: `whole`, `head`, `notModified`, `part`, `rangeNotSatisfiable`.
    var answer: String?
    /// The step whose body the client gets, if it is a stored one.
    var body: Int?
    /// The outcome of the network's response: `stored`, `refused`, `freshened`, `standIn`.
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
