public import Foundation
public import HTTPTypes

/// New header fields and times for a stored response, as a 304 supplies them (RFC 9111 §4.3.4).
///
/// The status, the vary record and the body of the response do not change.
public struct FieldUpdate: Sendable {
    /// The response to freshen.
    public var response: StoredResponse

    /// The complete header fields that replace the stored ones.
    public var headerFields: HTTPFields

    /// When the validating request was sent.
    public var requestTime: Date

    /// When the response to the validating request arrived.
    public var responseTime: Date

    /// Makes an update.
    public init(of response: StoredResponse, headerFields: HTTPFields, requestTime: Date, responseTime: Date) {
        self.response = response
        self.headerFields = headerFields
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}
