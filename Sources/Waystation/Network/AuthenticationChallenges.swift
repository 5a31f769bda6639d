package import WaystationFoundation

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
        for item in elements(of: value) {
            let word = item.prefix { $0 != " " && $0 != "=" && $0 != "\t" }
            let rest = item.dropFirst(word.count)
            // An element that starts with `name=` is one more parameter of the challenge before it; white space may
            // surround the equals sign (RFC 9110 §11.2).
            let parameter: Substring
            if !word.isEmpty, rest.first(where: { $0 != " " && $0 != "\t" }) == "=" {
                parameter = item
            } else {
                guard !word.isEmpty else { break }
                challenges.append(AuthenticationChallengeField(scheme: word.lowercased(), realm: nil))
                parameter = rest.drop { $0 == " " || $0 == "\t" }
            }
            guard let equals = parameter.firstIndex(of: "="), !challenges.isEmpty else { continue }
            let name = parameter[..<equals].filter { !$0.isWhitespace }.lowercased()
            if name == "realm" {
                challenges[challenges.count - 1].realm = unquoted(parameter[parameter.index(after: equals)...])
            }
        }
        return challenges
    }

    /// Splits at commas outside quoted strings.
    private static func elements(of value: String) -> [Substring] {
        var elements: [Substring] = []
        var start = value.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in value.indices {
            let character = value[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                elements.append(value[start..<index])
                start = value.index(after: index)
            }
        }
        elements.append(value[start...])
        return elements.map { $0.drop { $0 == " " || $0 == "\t" } }.filter { !$0.isEmpty }
    }

    private static func unquoted(_ text: Substring) -> String {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        guard trimmed.count >= 2, trimmed.first == "\"", trimmed.last == "\"" else { return trimmed }
        var result = ""
        var isEscaped = false
        for character in trimmed.dropFirst().dropLast() {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else {
                result.append(character)
                isEscaped = false
            }
        }
        return result
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
            port: url.port ?? (scheme == "https" ? 443 : 80),
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
        let token = Data("\(user):\(chosen.password ?? "")".utf8).base64EncodedString()
        self = .retry(authorization: "Basic \(token)", credential: chosen)
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
