import ArgumentParser

/// A thing that Foundation is known to do wrong, which the doctor tries out.
///
/// Docs/FoundationTraps.md describes all of them. These are the ones that show at once and harm nothing but a process
/// of their own.
enum Trap: String, CaseIterable, ExpressibleByArgument {
    case redirectOfProtocol = "L4"
    case partsOfBody = "L5"
    case storedResponse = "L7"
    case registeredClass = "L9"
    case pathOfCookie = "L14"
    case bodyAfterRedirect = "L24"
    case interimResponse = "L34"
    case trailer = "L35"

    /// A way to load.
    enum Way: String, CaseIterable, ExpressibleByArgument {
        case plain, waystation
    }

    /// A sentence that describes the correct behaviour of a load.
    var title: String {
        switch self {
        case .redirectOfProtocol: "a URLProtocol may report a redirect"
        case .partsOfBody: "a completion handler gets the whole body"
        case .storedResponse: "a fresh response is stored and used again"
        case .registeredClass: "a registered URLProtocol gets the loads of a session"
        case .pathOfCookie: "a cookie is sent only below its path"
        case .bodyAfterRedirect: "a body is sent again after a redirect with 307"
        case .interimResponse: "a response with 103 is not taken for the final one"
        case .trailer: "a response may have a trailer"
        }
    }

    /// Whether loads through Waystation on Foundation's own engine do it right.
    var isCurable: Bool { self != .trailer }

    /// The advice for a program where Waystation alone does not help; nil for most traps.
    var advice: String? {
        guard self == .registeredClass else { return nil }
        return """
            a session that a library makes by itself is not intercepted, but it obeys http_proxy: let \
            `waystation gateway --rules FILE --proxy` answer it, and start the program with http_proxy=http://127.0.0.1:PORT
            """
    }

    var document: String { "Docs/FoundationTraps.md, \(rawValue)" }
}
