package import WaystationFoundation
import WaystationHTTP

/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1).
package struct AuthenticationChallengeField: Equatable, Sendable {
    /// The scheme, lower-case, such as `basic`.
    package var scheme: String
    /// The `realm` parameter, unquoted.
    package var realm: String?

    /// The challenges of a field value, in order.
    ///
    /// A part that cannot be parsed ends the list; it is not an error.
    package static func parse(_ value: String) -> [AuthenticationChallengeField] {
        var challenges: [AuthenticationChallengeField] = []
        for item in value.quotedListMembers {
            let word = item.utf8.prefix { !$0.isSpace && $0 != UInt8(ascii: "=") }
            guard !word.isEmpty else { break }
            let rest = item[word.endIndex...].utf8.trimmingSpace()
            // An element that starts with `name=` is one more parameter of the challenge before it; white space may
            // surround the equals sign (RFC 9110 §11.2).
            var parameter = FieldParameter(item)
            if rest.first != UInt8(ascii: "=") {
                let scheme = String(decoding: word.map(\.lowercased), as: UTF8.self)
                challenges.append(AuthenticationChallengeField(scheme: scheme, realm: nil))
                parameter = FieldParameter(Substring(rest))
            }
            guard let realm = parameter.value, parameter.name == "realm", !challenges.isEmpty else { continue }
            challenges[challenges.count - 1].realm = realm
        }
        return challenges
    }
}

extension URLProtectionSpace {
    /// The space for which a 401 asks credentials, if Foundation would ask its delegate about it.
    ///
    /// Foundation does so for Basic only. It does not support other schemes or ask about them; then the 401 is the
    /// answer.
    static func asked(by response: ResponseHead) -> URLProtectionSpace? {
        guard response.statusCode == 401, let field = response.value(forHTTPHeaderField: "WWW-Authenticate"),
            let challenge = AuthenticationChallengeField.parse(field).first(where: { $0.scheme == "basic" }),
            let url = response.url, let host = url.host, let scheme = url.scheme?.lowercased()
        else { return nil }
        return URLProtectionSpace(
            host: host,
            port: url.port ?? KnownScheme(scheme.utf8)?.defaultPort ?? 80,
            protocol: scheme,
            realm: challenge.realm,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
    }
}

/// How a refused request continues.
package enum ChallengeAnswer: Sendable {
    /// Send the request again with this `Authorization` field value.
    case retry(authorization: String, credential: URLCredential)
    /// The refusal is the answer.
    case complete
    /// The delegate cancelled: the load fails with `URLError.cancelled`.
    case cancel
}

extension ChallengeAnswer {
    /// Makes the next step from the delegate's answer, or from the default when there is no delegate.
    ///
    /// Only Basic can be answered: Foundation on Linux supports no other scheme, and ends the process when it gets one.
    init(
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?,
        for challenge: URLAuthenticationChallenge
    ) {
        let chosen: URLCredential?
        switch disposition {
        case .useCredential: chosen = credential
        case .performDefaultHandling: chosen = challenge.proposedCredential
        case .rejectProtectionSpace, .cancelAuthenticationChallenge:
            self = .cancel
            return
        @unknown default: chosen = nil
        }
        guard let chosen, let user = chosen.user,
            challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
        else {
            self = .complete
            return
        }
        let credentials = BasicCredentials(user: user, password: chosen.password ?? "")
        self = .retry(authorization: credentials.fieldValue, credential: chosen)
    }
}

/// A sender for challenges that are made here.
///
/// It does nothing: answers arrive through the delegate's completion handler.
final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
