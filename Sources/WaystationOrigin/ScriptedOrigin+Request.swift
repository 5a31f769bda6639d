public import Foundation

extension ScriptedOrigin {
    /// One header field, with the spelling of its name as on the wire.
    public struct Field: Sendable, Hashable, CustomStringConvertible {
        /// The name, in its own spelling.
        public var name: String
        /// The value, without the white space around it.
        public var value: String

        /// Makes a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// `name: value`.
        public var description: String { "\(name): \(value)" }
    }

    /// A request as the server received it.
    public struct Request: Sendable {
        /// The place of this request among all requests of the server, from 0.
        public let order: Int
        /// The number of the connection that it came on, from 0: requests with equal numbers shared a connection.
        public let connection: Int
        /// The method, such as `GET`.
        public let method: String
        /// The request target, raw, such as `/a%20b?c=d`.
        public let target: String
        /// The protocol version, such as `HTTP/1.1`.
        public let version: String
        /// The fields, in their order, with raw names; fields of the same name stay separate.
        public let fields: [Field]
        /// The body, with the chunked coding removed; empty when the server digests bodies.
        public let body: Data
        /// The size of the body in bytes.
        public let bodyLength: Int
        /// The SHA-256 of the body when the server digests bodies; otherwise nil.
        public let bodyDigest: Data?

        /// The part of the target before the query.
        public var path: String { String(target.prefix { $0 != "?" }) }

        /// The values of all fields of a name, in their order; names are compared without regard to case.
        public func values(of name: String) -> [String] {
            fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }

        /// The value of the first field of a name, or nil when there is none.
        public func value(of name: String) -> String? { values(of: name).first }
    }
}
