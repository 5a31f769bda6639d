import Foundation
import SiteTools

/// The crawl over time, as inline SVG: the bytes per time at the top, and each load as a bar in a lane of its own
/// below.
struct TimelineChart {
    private struct Bar {
        let record: LoadRecord
        let start: Double
        let end: Double
        let lane: Int
    }

    private static let width = 960.0
    private static let laneHeight = 9.0
    private static let areaHeight = 70.0
    /// More lanes or bars than these would be unreadable; the area at the top still shows the course.
    private static let laneLimit = 24
    private static let barLimit = 4000

    private let bars: [Bar]
    private let length: Double
    private let laneCount: Int

    init(_ records: [LoadRecord]) {
        let sorted = records.filter { $0.attempts > 0 }.sorted { $0.startedAt < $1.startedAt }
        // Breaks between runs are cut out; otherwise a crawl on two evenings would be a line with two dots.
        let longestBreak = 3.0
        var offset = sorted.first?.startedAt.timeIntervalSince1970 ?? 0
        var latestEnd = offset
        var lanes: [Double] = []
        var bars: [Bar] = []
        for record in sorted {
            let startedAt = record.startedAt.timeIntervalSince1970
            if startedAt - latestEnd > longestBreak { offset += startedAt - latestEnd - longestBreak / 3 }
            latestEnd = max(latestEnd, startedAt + record.duration)
            let start = startedAt - offset
            let end = start + max(record.duration, 0)
            let lane = lanes.firstIndex { $0 <= start } ?? lanes.count
            if lane == lanes.count { lanes.append(end) } else { lanes[lane] = end }
            bars.append(Bar(record: record, start: start, end: end, lane: lane))
        }
        self.bars = bars
        length = max(bars.map(\.end).max() ?? 0, 0.001)
        laneCount = min(lanes.count, Self.laneLimit)
    }

    var svg: Markup {
        let showsBars = bars.count <= Self.barLimit
        let lanesHeight = showsBars ? Double(laneCount) * Self.laneHeight : 0
        let height = Self.areaHeight + 10 + lanesHeight + 22
        return """
            <svg class="timeline" viewBox="0 0 \(number(Self.width)) \(number(height))" role="img" \
            aria-label="Loads over time">
            \(area)
            \(showsBars ? loads(top: Self.areaHeight + 10) : "")
            \(axis(top: height - 18))
            </svg>
            """
    }

    private func x(_ time: Double) -> Double { time / length * Self.width }

    private func number(_ value: Double) -> Markup { Markup(html: Words.decimal(value, 1)) }

    // MARK: Parts

    private var area: Markup {
        let buckets = 120
        var bytes = [Double](repeating: 0, count: buckets)
        for bar in bars {
            let index = min(buckets - 1, Int(bar.end / length * Double(buckets)))
            bytes[index] += Double(bar.record.size)
        }
        let peak = max(bytes.max() ?? 0, 1)
        let step = Self.width / Double(buckets)
        let columns = bytes.enumerated().filter { $0.element > 0 }.joined { index, value in
            let height = max(1, (value / peak).squareRoot() * (Self.areaHeight - 14))
            return """
                <rect class="flow" x="\(number(Double(index) * step))" y="\(number(Self.areaHeight - height))" \
                width="\(number(step - 1))" height="\(number(height))" rx="1"/>
                """
        }
        let rate = Words.bytes(Int(peak / (length / Double(buckets))))
        return """
            \(columns)
            <text class="label" x="0" y="9">bytes arriving, at most \(rate)/s (square-root scale)</text>
            """
    }

    private func loads(top: Double) -> Markup {
        bars.filter { $0.lane < laneCount }.joined { bar in
            let colour = bar.record.state == .loaded ? MediaClass(bar.record).colour : "bad"
            let path = bar.record.url.pathAndQuery
            let text = "\(path) · \(Words.seconds(bar.record.duration)) · \(Words.bytes(bar.record.size))"
            return """
                <rect class="c-\(colour)" x="\(number(x(bar.start)))" y="\(number(top + Double(bar.lane) * Self.laneHeight))" \
                width="\(number(max(0.8, x(bar.end) - x(bar.start))))" height="\(number(Self.laneHeight - 2))">\
                <title>\(text)</title></rect>
                """
        }
    }

    private func axis(top: Double) -> Markup {
        let step = Self.step(for: length)
        return stride(from: 0, through: length, by: step).joined { time in
            let isLast = x(time) > Self.width - 40
            return """
                <line class="tick" x1="\(number(x(time)))" x2="\(number(x(time)))" y1="\(number(top))" y2="\(number(top + 4))"/>
                <text class="label" x="\(number(x(time)))" y="\(number(top + 15))" \
                text-anchor="\(time == 0 ? "start" : isLast ? "end" : "middle")">\(time == 0 ? "0" : Words.seconds(time))</text>
                """
        }
    }

    /// A round step that gives four to ten ticks.
    static func step(for length: Double) -> Double {
        let magnitude = pow(10, (log10(length / 5)).rounded(.down))
        return [1, 2, 5, 10].map { $0 * magnitude }.first { length / $0 <= 8 } ?? magnitude * 10
    }
}
