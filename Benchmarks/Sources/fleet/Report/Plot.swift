import Foundation

/// A plot of values over the seconds of a run, as SVG.
struct Plot {
    enum Shape {
        /// Areas, one above the other.
        case stacked
        /// A line for each series.
        case lines
        /// The same, on a logarithmic scale.
        case logarithmic
    }

    struct Series {
        let name: String
        /// The class of the style sheet with its colour.
        let style: String
        /// A value for each second; nil for a second without a value.
        let values: [Double?]
    }

    /// A part of the run with a name.
    struct Band {
        let name: String
        let seconds: ClosedRange<Double>
    }

    let title: String
    /// The unit in the labels of the axis.
    let unit: String
    let shape: Shape
    let series: [Series]
    let bands: [Band]

    private static let (width, height) = (720.0, 240.0)
    private static let (left, right, top, bottom) = (60.0, 8.0, 20.0, 24.0)

    private var seconds: Int { max(2, series.map(\.values.count).max() ?? 0) }

    /// The plot with its heading and its legend.
    var html: String {
        let legend = series.map { "<li><i class=\"\($0.style)\"></i>\($0.name.escaped)</li>" }
        return """
            <section><h2>\(title.escaped)</h2>
            <ul class="legend">\(legend.joined())</ul>
            <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" aria-label="\(summary.escaped)">
            \((bandMarks + axes + marks).joined(separator: "\n"))
            </svg></section>
            """
    }

    /// The plot in words, for those who do not see it.
    private var summary: String {
        let ranges = series.map { series in
            let values = series.values.compactMap(\.self)
            return "\(series.name) from \(Self.text(values.min() ?? 0)) to \(Self.text(values.max() ?? 0))"
        }
        return "\(title), \(unit): \(ranges.joined(separator: ", "))"
    }

    private var bandMarks: [String] {
        bands.flatMap { band in
            let (start, end) = (x(band.seconds.lowerBound), x(band.seconds.upperBound))
            return [
                Self.element(
                    "rect",
                    [
                        "class": "band", "x": Self.point(start), "y": Self.point(Self.top),
                        "width": Self.point(max(end - start, 2)),
                        "height": Self.point(Self.height - Self.top - Self.bottom),
                    ]
                ), Self.element("text", ["x": Self.point(start), "y": "12"], band.name),
            ]
        }
    }

    private var axes: [String] {
        let rows = ticks.flatMap { value in
            let (line, label) = (Self.point(y(value)), Self.point(y(value) + 4))
            let (left, right) = (Self.point(Self.left), Self.point(Self.width - Self.right))
            return [
                Self.element("line", ["class": "grid", "x1": left, "x2": right, "y1": line, "y2": line]),
                Self.element(
                    "text",
                    ["x": Self.point(Self.left - 6), "y": label, "text-anchor": "end"],
                    "\(Self.text(value)) \(unit)"
                ),
            ]
        }
        let step = Self.step(Double(seconds) / 6)
        let columns = stride(from: 0, to: Double(seconds), by: max(step, 1)).map { second in
            Self.element(
                "text",
                ["x": Self.point(x(second)), "y": Self.point(Self.height - 6), "text-anchor": "middle"],
                "\(Int(second)) s"
            )
        }
        return rows + columns
    }

    private static func element(
        _ name: String,
        _ attributes: KeyValuePairs<String, String>,
        _ text: String = ""
    ) -> String {
        let list = attributes.map { " \($0.key)=\"\($0.value.escaped)\"" }.joined()
        return "<\(name)\(list)>\(text.escaped)</\(name)>"
    }

    private var marks: [String] {
        guard case .stacked = shape else {
            return series.map { series in
                var path = ""
                var isDrawing = false
                for (second, value) in series.values.enumerated() {
                    guard let value else {
                        isDrawing = false
                        continue
                    }
                    path += "\(isDrawing ? "L" : "M")\(Self.point(x(Double(second)))) \(Self.point(y(value)))"
                    isDrawing = true
                }
                return "<path class=\"line \(series.style)\" d=\"\(path)\"/>"
            }
        }
        var floor = [Double](repeating: 0, count: seconds)
        return series.map { series in
            let roof = floor.indices.map {
                floor[$0] + ((series.values.indices.contains($0) ? series.values[$0] : nil) ?? 0)
            }
            let outline =
                roof.enumerated().map { (Double($0), $1) } + floor.enumerated().reversed().map { (Double($0), $1) }
            floor = roof
            let points = outline.map { "\(Self.point(x($0.0))),\(Self.point(y($0.1)))" }
            return "<polygon class=\"\(series.style)\" points=\"\(points.joined(separator: " "))\"/>"
        }
    }

    // MARK: - Scales

    private var maximum: Double {
        switch shape {
        case .stacked:
            (0..<seconds).map { second in
                series.reduce(0) { $0 + (($1.values.indices.contains(second) ? $1.values[second] : nil) ?? 0) }
            }.max() ?? 1
        case .lines, .logarithmic: series.flatMap(\.values).compactMap(\.self).max() ?? 1
        }
    }

    /// The lowest and the highest value of the axis.
    private var range: (Double, Double) {
        guard case .logarithmic = shape else { return (0, max(maximum * 1.05, 1e-9)) }
        let least = series.flatMap(\.values).compactMap(\.self).min() ?? 1
        return (pow(10, log10(max(least, 1e-6)).rounded(.down)), pow(10, log10(max(maximum, 1e-6)).rounded(.up)))
    }

    private var ticks: [Double] {
        let (low, high) = range
        guard case .logarithmic = shape else {
            return Array(stride(from: 0, through: high, by: Self.step(high / 4)))
        }
        return Array(Int(log10(low).rounded())...Int(log10(high).rounded())).map { pow(10, Double($0)) }
    }

    private func x(_ second: Double) -> Double {
        Self.left + second / Double(seconds - 1) * (Self.width - Self.left - Self.right)
    }

    private func y(_ value: Double) -> Double {
        let (low, high) = range
        let share: Double
        if case .logarithmic = shape {
            share = (log10(max(value, low)) - log10(low)) / max(log10(high) - log10(low), 1e-9)
        } else {
            share = value / high
        }
        return Self.height - Self.bottom - share * (Self.height - Self.top - Self.bottom)
    }

    /// A round step: 1, 2 or 5 times a power of ten.
    private static func step(_ rough: Double) -> Double {
        let power = pow(10, log10(max(rough, 1e-9)).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? 10 * power
    }

    private static func point(_ value: Double) -> String { String(format: "%.1f", value) }

    private static func text(_ value: Double) -> String { String(format: value < 10 ? "%.3g" : "%.0f", value) }
}

extension String {
    /// The text for the content or for an attribute of an element.
    var escaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
