import Foundation
import WaystationFileSystem

extension PackError {
    /// The error of a status other than success, with advice for the user.
    static func refusal(_ status: Int, of url: URL, retryAfter: Duration?) -> PackError {
        let advice =
            switch status {
            case 401, 403: "the server requires other credentials: check the address and its permissions"
            case 404, 410: "there is nothing at this address: check it, and that the file is published"
            case 408, 429, 503: "the server is busy: try again later"
            case 500...: "the server failed: try again later, and check its log if the error persists"
            case 300..<400: "the redirect cannot be followed: check the server's Location field"
            default: "check the address, and that the server is the right one"
            }
        return PackError(.refused, "\(url.shown) answered with status \(status); \(advice)", retryAfter: retryAfter)
    }

    static func network(_ url: URL, _ error: any Error) -> PackError {
        PackError(.network, "\(url.shown) could not be loaded: check the connection and the address", cause: error)
    }

    static func tooLarge(_ url: URL, limit: Int) -> PackError {
        PackError(
            .tooLarge,
            "\(url.shown) sent more than the \(limit) bytes that were announced or are allowed, and was stopped there; "
                + "check the server, or raise the limit"
        )
    }

    static func cancelled(_ url: URL) -> PackError {
        PackError(.cancelled, "loading \(url.shown) was cancelled", cause: CancellationError())
    }

    static func secondReader(_ url: URL) -> PackError {
        PackError(.invalidArgument, "two tasks read the body of \(url.shown) at a time: read it in one task")
    }
}
