import Foundation

/// One measured number and its limit, printed as one line of JSON.
public struct Figure: Sendable {
    /// The kind of limit.
    public enum Bound: Sendable { case atMost, atLeast }

    /// The name of the measurement; `a/b` for a ratio.
    public let name: String
    let value: Double
    let unit: String
    let limit: Double?
    let bound: Bound
    let against: [String: Double]

    /// Makes a figure.
    ///
    /// - Parameters:
    ///   - name: The name of the measurement; `a/b` for a ratio.
    ///   - value: The number.
    ///   - unit: Its unit, such as `ratio` or `MiB`.
    ///   - limit: The limit of the value, or nil when the value is only reported.
    ///   - bound: Whether the limit is the highest or the lowest allowed value.
    ///   - against: The numbers that the value came from, by name.
    public init(
        _ name: String,
        _ value: Double,
        unit: String = "ratio",
        limit: Double? = nil,
        bound: Bound = .atMost,
        against: [String: Double] = [:]
    ) {
        self.name = name
        self.value = value
        self.unit = unit
        self.limit = limit
        self.bound = bound
        self.against = against
    }

    /// Whether the value keeps its limit.
    ///
    /// The value as printed, with three decimals, is compared.
    public var keepsLimit: Bool {
        guard let limit else { return true }
        let rounded = (value * 1000).rounded() / 1000
        return bound == .atMost ? rounded <= limit : rounded >= limit
    }

    /// The line: `{"name":"a/b","value":1.07,"unit":"ratio","limit":1.15,"ok":true,"against":{"a":61.2,"b":57.1}}`.
    public var line: String {
        var parts = ["\"name\":\"\(name)\"", "\"value\":\(Self.text(value))", "\"unit\":\"\(unit)\""]
        if let limit {
            parts.append("\"\(bound == .atMost ? "limit" : "least")\":\(Self.text(limit))")
            parts.append("\"ok\":\(keepsLimit)")
        }
        if !against.isEmpty {
            let numbers = against.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\(Self.text($0.value))" }
            parts.append("\"against\":{\(numbers.joined(separator: ","))}")
        }
        return "{\(parts.joined(separator: ","))}"
    }

    private static func text(_ value: Double) -> String {
        let text = String(format: "%.3f", value)
        return text.contains(".") ? String(text.trimmingSuffix("0").trimmingSuffix(".")) : text
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(_ suffix: Character) -> String {
        var text = String(self)
        while text.last == suffix { text.removeLast() }
        return text
    }
}
