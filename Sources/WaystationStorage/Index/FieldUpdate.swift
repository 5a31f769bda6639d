public import Foundation
public import HTTPTypes

/// New fields and times for a stored response, as a 304 brings them (RFC 9111 §4.3.4).
///
/// Status, vary record and body of the response stay.
public struct FieldUpdate: Sendable {
    /// The response to freshen.
    public var response: StoredResponse

    /// All of its fields from now on.
    public var headerFields: HTTPFields

    /// When the validating request was sent.
    public var requestTime: Date

    /// When its answer arrived.
    public var responseTime: Date

    /// Makes an update.
    public init(of response: StoredResponse, headerFields: HTTPFields, requestTime: Date, responseTime: Date) {
        self.response = response
        self.headerFields = headerFields
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}
