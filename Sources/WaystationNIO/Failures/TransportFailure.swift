#if NIO
import Waystation
import WaystationHTTP
import WaystationFoundation

/// The error of an exchange, before it is known for which URL.
struct TransportFailure: Error, Equatable {
    /// The codes that plain `URLSession` reports on Linux.
    enum Code: Equatable {
        case unknown, badURL, unsupportedURL, timedOut, cannotFindHost, cannotConnectToHost,
            networkConnectionLost, badServerResponse, dataLengthExceedsMaximum, requestBodyStreamExhausted
    }

    /// The code that plain `URLSession` reports in the same situation.
    var code: Code
    /// A sentence that says what was wrong, with the value, and what to do.
    var explanation: String
    /// Whether a connection lacks a descriptor, which it gets when another connection is closed.
    var lacksDescriptors = false

    init(_ code: Code, _ explanation: String) {
        self.code = code
        // The errors of other libraries are quoted, and may quote the server.
        self.explanation = explanation.shown(upTo: 1_000)
    }

    /// The error as the receiver gets it.
    func error(for url: URL?) -> URLError {
        // As Foundation's error for a time-out, which has no URL.
        URLError(code.urlErrorCode, failing: code == .timedOut ? nil : url, explanation)
    }
}

extension TransportFailure.Code {
    fileprivate var urlErrorCode: URLError.Code {
        switch self {
        case .unknown: .unknown
        case .badURL: .badURL
        case .unsupportedURL: .unsupportedURL
        case .timedOut: .timedOut
        case .cannotFindHost: .cannotFindHost
        case .cannotConnectToHost: .cannotConnectToHost
        case .networkConnectionLost: .networkConnectionLost
        case .badServerResponse: .badServerResponse
        case .dataLengthExceedsMaximum: .dataLengthExceedsMaximum
        case .requestBodyStreamExhausted: .requestBodyStreamExhausted
        }
    }
}

extension TransportFailure {
    /// Nothing arrived for as long as the request's `timeoutInterval`.
    static func timedOut(seconds: Double) -> Self {
        Self(
            .timedOut,
            "Nothing was sent or received for \(seconds) s. Raise the request's timeoutInterval if the server needs longer."
        )
    }

    /// The proxy of the environment cannot be used.
    ///
    /// - Parameter reason: The reason, as ``Route/unsupported(_:)`` has it.
    /// - Returns: The failure.
    static func unsupported(_ reason: String) -> Self {
        Self(
            .cannotConnectToHost,
            "The environment names a proxy \(reason). Name an http proxy in the environment, or none."
        )
    }
}
#endif
