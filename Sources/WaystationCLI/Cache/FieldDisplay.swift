import HTTPTypes
import WaystationFields
import WaystationStorage

/// Formats fields for output; values that grant access are hidden unless the user asks for them.
struct FieldDisplay {
    let showsSecrets: Bool

    /// The text in place of a hidden value.
    static let redacted = "(hidden)"

    func pairs(_ fields: HTTPFields) -> [[String]] { fields.map { [$0.name.rawName, value($0.name, $0.value)] } }

    /// The request fields that selected a variant, such as `accept-language: de`.
    func variant(_ vary: VaryKey) -> [String] {
        vary.nominees.map { nominee in
            guard let value = nominee.value else { return nominee.name.canonicalName }
            return "\(nominee.name.canonicalName): \(self.value(nominee.name, value))"
        }
    }

    private func value(_ name: HTTPField.Name, _ value: String) -> String {
        SecretNames.standard.contains(name.canonicalName) && !showsSecrets ? Self.redacted : value
    }
}

extension String {
    /// The text without characters that would control a terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(unicodeScalars.map { $0.isHidden ? "\u{FFFD}" : $0 })
        )
    }
}
