/// The meaning of patterns, written a second time in the simplest way: no index, no canonical bytes, only recursion.
struct LinearMatcher {
    /// A rule in parts, so that the library's parser is not involved.
    struct Rule {
        var scheme: String
        var host: String
        var port: String
        var path: [String]
        var item: String?
        var methods: Set<String>?

        var pattern: String {
            "\(scheme)://\(host)\(port)/\(path.joined(separator: "/"))\(item.map { "?" + $0 } ?? "")"
        }
    }

    struct Target {
        var scheme: String
        var host: String
        var port: Int
        var path: [String]
        var items: [String]
        var method: String

        var url: String {
            let query = items.isEmpty ? "" : "?" + items.joined(separator: "&")
            return "\(scheme)://\(host):\(port)/\(path.joined(separator: "/"))\(query)"
        }
    }

    let rules: [Rule]

    func firstMatch(_ target: Target) -> Int? { rules.firstIndex { takes($0, target) } }

    private func takes(_ rule: Rule, _ target: Target) -> Bool {
        guard rule.scheme == "*" || rule.scheme == target.scheme else { return false }
        let standardPort = target.scheme == "http" ? 80 : 443
        switch rule.port {
        case "": guard target.port == standardPort else { return false }
        case ":*": break
        default: guard rule.port == ":\(target.port)" else { return false }
        }
        if let methods = rule.methods, !methods.contains(target.method) { return false }
        if let item = rule.item, !target.items.contains(item) { return false }
        return takesHost(rule.host, target.host) && takesPath(rule.path[...], target.path[...])
    }

    private func takesHost(_ pattern: String, _ host: String) -> Bool {
        if pattern == "*" { return true }
        if pattern.hasPrefix("**.") {
            return host == pattern.dropFirst(3) || host.hasSuffix(pattern.dropFirst(2))
        }
        return pattern.hasPrefix("*.") ? host.hasSuffix(pattern.dropFirst()) : pattern == host
    }

    private func takesPath(_ pattern: ArraySlice<String>, _ path: ArraySlice<String>) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        if first == "**" {
            return takesPath(pattern.dropFirst(), path) || !path.isEmpty && takesPath(pattern, path.dropFirst())
        }
        guard let segment = path.first else { return false }
        return takesText(Array(first)[...], Array(segment)[...]) && takesPath(pattern.dropFirst(), path.dropFirst())
    }

    private func takesText(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return takesText(pattern.dropFirst(), text) || !text.isEmpty && takesText(pattern, text.dropFirst())
        }
        return first == text.first && takesText(pattern.dropFirst(), text.dropFirst())
    }
}

/// SplitMix64: the same numbers for the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(next() % UInt64(elements.count))]
    }
}
