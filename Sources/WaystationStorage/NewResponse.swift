public import Foundation
public import HTTPTypes

/// A response about to be stored; its body follows through a ``ResponseWriter``.
public struct NewResponse: Sendable {
    /// What the response answers.
    public var key: RequestKey

    /// The status code.
    public var status: Int

    /// The fields to keep; order, case and repeated fields are kept.
    public var headerFields: HTTPFields

    /// The request fields that chose the response.
    ///
    /// A stored variant with the same key and record is replaced.
    public var vary: VaryRecord

    /// When the request was sent.
    public var requestTime: Date

    /// When the response arrived.
    public var responseTime: Date

    /// The number of body bytes announced, if known.
    ///
    /// A body of any other length is not stored.
    public var expectedLength: Int?

    /// Describes a response to store.
    public init(
        key: RequestKey,
        status: Int,
        headerFields: HTTPFields,
        vary: VaryRecord = .none,
        requestTime: Date,
        responseTime: Date,
        expectedLength: Int? = nil
    ) {
        self.key = key
        self.status = status
        self.headerFields = headerFields
        self.vary = vary
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.expectedLength = expectedLength
    }

    var head: ResponseHead {
        ResponseHead(
            key: key,
            status: status,
            headerFields: headerFields,
            vary: vary,
            requestTime: requestTime,
            responseTime: responseTime
        )
    }
}

/// Everything of a response but its body.
struct ResponseHead: Sendable {
    let key: RequestKey
    let status: Int
    let headerFields: HTTPFields
    let vary: VaryRecord
    let requestTime: Date
    let responseTime: Date
}
