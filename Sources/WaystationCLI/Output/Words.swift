/// Numbers in a form for people.
enum Words {
    /// A size such as `999 B`, `11 kB`, `1.4 MB`, in powers of 1000.
    static func bytes(_ count: Int) -> String {
        var (value, unit) = (Double(count), "B")
        for next in ["kB", "MB", "GB", "TB"] where value >= 999.5 {
            value /= 1000
            unit = next
        }
        guard unit != "B", value < 9.95 else { return "\(Int(value.rounded())) \(unit)" }
        return "\((value * 10).rounded() / 10) \(unit)"
    }

    /// A table with columns of equal width.
    static func table(_ rows: [[String]]) -> String {
        let widths = rows.reduce(into: [Int]()) { widths, row in
            for (index, cell) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], cell.count)
            }
        }
        return rows.map { row in
            let line = row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count)
            }
            return line.joined(separator: "  ")
        }
        .joined(separator: "\n")
    }
}
