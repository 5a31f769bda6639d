import ArgumentParser

/// A thing that Foundation is known to do wrong, which the doctor tries out.
///
/// Docs/FoundationTraps.md describes all of them. These are the ones that show each time, at once, and harm nothing but
/// a process of their own.
enum Trap: String, CaseIterable, ExpressibleByArgument {
    case loadInsideProtocol = "L1"
    case markedRequest = "L3"
    case redirectOfProtocol = "L4"
    case partsOfBody = "L5"
    case downloadOfProtocol = "L6"
    case storedResponse = "L7"
    case queryOfStoredResponse = "L8"
    case registeredClass = "L9"
    case canonicalRequest = "L10"
    case bodyOfUpload = "L11"
    case unansweredChallenge = "L12"
    case refusedResponse = "L13"
    case pathOfCookie = "L14"
    case fieldsOfDecodedBody = "L15"
    case bodyAfterRedirect = "L24"
    case framingOfStream = "L26"
    case closedStream = "L27"
    case suspendedTask = "L30"
    case intervalOfInitializer = "L31"
    case interimResponse = "L34"
    case trailer = "L35"
    case droppedConnection = "L36"
    case credentialBehindRedirect = "L39"
    case storedCredential = "L40"
    case numberInField = "L41"
    case relativeLocation = "location"
    case cutCoding = "gzip"

    /// A way to load.
    enum Way: String, CaseIterable, ExpressibleByArgument {
        case plain, waystation
    }

    /// A sentence that describes the correct behaviour of a load.
    var title: String {
        switch self {
        case .loadInsideProtocol: "a URLProtocol may start a load of its own"
        case .markedRequest: "a URLProtocol recognises a request that it marked"
        case .redirectOfProtocol: "a URLProtocol may report a redirect"
        case .partsOfBody: "a completion handler gets the whole body"
        case .downloadOfProtocol: "a download that a URLProtocol takes gets its file"
        case .storedResponse: "a fresh response is stored and used again"
        case .queryOfStoredResponse: "a stored response answers its own query alone"
        case .registeredClass: "a registered URLProtocol gets the loads of a session"
        case .canonicalRequest: "spellings of one URL are one request"
        case .bodyOfUpload: "a URLProtocol gets the body of an upload"
        case .unansweredChallenge: "a load with a 401 ends if its challenge gets no answer"
        case .refusedResponse: "a delegate may refuse a response"
        case .pathOfCookie: "a cookie is sent only below its path"
        case .fieldsOfDecodedBody: "a decoded body has the fields of a decoded body"
        case .bodyAfterRedirect: "a body is sent again after a redirect with 307"
        case .framingOfStream: "a stream is framed once"
        case .closedStream: "a stream without an error may be asked for its error"
        case .suspendedTask: "a task that is suspended and resumed is one request"
        case .intervalOfInitializer: "the time-out of a request's initializer is obeyed"
        case .interimResponse: "a response with 103 is not taken for the final one"
        case .trailer: "a response may have a trailer"
        case .droppedConnection: "a POST on a connection that is dropped ends"
        case .credentialBehindRedirect: "a credential is sent to the server that asked for it"
        case .storedCredential: "a stored credential is found for an equal space"
        case .numberInField: "a field of a configuration may be a number"
        case .relativeLocation: "a relative Location begins at the folder of its page"
        case .cutCoding: "a gzip body that is cut fails its load"
        }
    }

    /// Whether loads through Waystation on Foundation's own engine do it right.
    var isCurable: Bool {
        switch self {
        case .trailer, .droppedConnection, .storedCredential, .cutCoding: false
        default: true
        }
    }

    /// The advice for a program where Waystation alone does not help; nil for most traps.
    var advice: String? {
        switch self {
        case .registeredClass:
            """
            a session that a library makes by itself is not intercepted, but it obeys http_proxy: let \
            `waystation gateway --rules FILE --proxy` answer it, and start the program with http_proxy=http://127.0.0.1:PORT
            """
        case .trailer, .droppedConnection:
            "let the engine of the product WaystationNIO send data tasks: `$0.transport = .nio`"
        case .cutCoding:
            """
            let a rule with `.cache` load it: it asks for a body without a coding, and does not store a coded one \
            unless storesCodedBodies is set
            """
        case .storedCredential: "set a subclass of URLCredentialStorage that compares protection spaces by value"
        default: nil
        }
    }

    /// The number of the trap in the table of the document; nil for a trap that the text below the table describes.
    var number: String? { rawValue.hasPrefix("L") ? rawValue : nil }

    var document: String { "Docs/FoundationTraps.md, \(number ?? "below the table")" }
}
