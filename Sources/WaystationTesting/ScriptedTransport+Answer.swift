public import Foundation

extension ScriptedTransport {
    /// One event in an exchange.
    public enum Step: Sendable {
        /// The head of the response arrives.
        case head(Int, fields: [String: String] = [:])
        /// A part of the response's body arrives, decoded.
        case part(Data)
        /// A part of the request's body is sent: the bytes in this part, the bytes sent so far, and the bytes expected
        /// in all.
        case sent(Int64, total: Int64, expected: Int64)
        /// Nothing happens until the gate opens.
        case wait(Gate)
        /// Nothing happens for a time, which passes by the transport's `schedule`.
        ///
        /// If it is not shorter than the request's `timeoutInterval`, the exchange times out.
        case delay(Duration)
        /// The response is complete.
        case end
        /// The exchange fails with an error.
        case error(URLError)
    }

    /// The events after a request was sent.
    public struct Answer: Sendable {
        /// The events, in this order.
        ///
        /// Without an ``Step/end`` or ``Step/error(_:)`` the exchange stays open until it is cancelled or times out.
        public var steps: [Step]

        /// Makes an answer from steps, for cases that the other functions do not cover.
        public init(_ steps: [Step]) {
            self.steps = steps
        }

        /// A whole response.
        public static func status(_ status: Int, fields: [String: String] = [:], body: Data = Data()) -> Answer {
            Answer([.head(status, fields: fields)] + (body.isEmpty ? [] : [.part(body)]) + [.end])
        }

        /// `200 OK` with a body of text.
        public static func ok(_ text: String = "", fields: [String: String] = [:]) -> Answer {
            status(200, fields: fields, body: Data(text.utf8))
        }

        /// A redirect without a body; the location is sent as it stands.
        public static func redirect(_ status: Int = 302, to location: String) -> Answer {
            self.status(status, fields: ["Location": location])
        }

        /// Fails with an error and without a response.
        public static func failed(_ code: URLError.Code) -> Answer { Answer([.error(URLError(code))]) }

        /// Sends nothing, until the exchange is cancelled or the request times out.
        public static var unanswered: Answer { Answer([]) }

        /// Returns this answer, held back until the gate opens.
        public func held(at gate: Gate) -> Answer { Answer([.wait(gate)] + steps) }
    }
}
