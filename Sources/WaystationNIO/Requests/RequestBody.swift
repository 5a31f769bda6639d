#if NIO
import Foundation

/// The body of a request.
enum RequestBody: Sendable {
    case none
    case data(Data)
    case stream(BodyStream)
}
#endif
