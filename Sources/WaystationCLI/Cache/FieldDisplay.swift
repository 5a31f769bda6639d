import HTTPTypes
import WaystationStorage

/// Fields as the tool shows them: what lets someone in is left out unless it was asked for.
struct FieldDisplay {
    let showsSecrets: Bool

    static let secret: Set<String> = [
        "authorization", "cookie", "cookie2", "proxy-authorization", "set-cookie", "set-cookie2", "authentication-info",
        "proxy-authentication-info",
    ]

    /// What stands in the place of a value that is not shown.
    static let redacted = "(hidden)"

    func pairs(_ fields: HTTPFields) -> [[String]] { fields.map { [$0.name.rawName, value($0.name, $0.value)] } }

    /// The request fields that chose a variant, such as `accept-language: de`.
    func variant(_ vary: VaryRecord) -> [String] {
        vary.fields.map { field in
            guard let value = field.value else { return field.name.canonicalName }
            return "\(field.name.canonicalName): \(self.value(field.name, value))"
        }
    }

    private func value(_ name: HTTPField.Name, _ value: String) -> String {
        Self.secret.contains(name.canonicalName) && !showsSecrets ? Self.redacted : value
    }
}

extension String {
    /// Without characters that would do something to a terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
                    default: scalar
                    }
                }
            )
        )
    }
}
