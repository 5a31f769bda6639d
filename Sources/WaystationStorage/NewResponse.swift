public import Foundation
public import HTTPTypes

/// A response that is about to be stored; its body follows through a ``ResponseWriter``.
public struct NewResponse: Sendable {
    /// The key of the request that the response answers.
    public var key: RequestKey

    /// The status code.
    public var status: Int

    /// The header fields; their order, their case and repeated fields are kept.
    public var headerFields: HTTPFields

    /// The request fields that selected the response.
    ///
    /// The response replaces a stored variant with the same key and record.
    public var vary: VaryRecord

    /// When the request was sent.
    public var requestTime: Date

    /// When the response arrived.
    public var responseTime: Date

    /// The announced number of body bytes, if known.
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

    var head: StoredHead {
        StoredHead(
            key: key,
            status: status,
            headerFields: headerFields,
            vary: vary,
            requestTime: requestTime,
            responseTime: responseTime
        )
    }
}

/// All parts of a response except its body.
struct StoredHead: Sendable {
    let key: RequestKey
    let status: Int
    let headerFields: HTTPFields
    let vary: VaryRecord
    let requestTime: Date
    let responseTime: Date
}
