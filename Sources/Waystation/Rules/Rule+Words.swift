extension Rule {
    /// The rule in one line, such as `allow https://img.example/** via cache`.
    package var inWords: String {
        switch definition.action {
        case .block: "block \(definition.pattern)"
        case .allow(let route, _): "allow \(definition.pattern) via \(route)"
        }
    }
}
