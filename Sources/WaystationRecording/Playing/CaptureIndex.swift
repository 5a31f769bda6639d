import Foundation

/// The place of the record of a capture in a web archive.
struct CapturePlace: Sendable {
    /// The hash of the canonical URL; the record itself has the URL, with which it is compared when it is read.
    let url: Int
    /// The time in milliseconds since 1970; `Int64.min` if the record has none.
    let time: Int64
    /// The place of the record in its file, in bytes: for a compressed WARC, that of the member that holds it.
    let offset: Int
    /// The number of the file in the archive.
    let file: UInt32

    init(of url: String, at date: Date?, file: Int, offset: Int) {
        self.url = url.hashValue
        let milliseconds = date.map { ($0.timeIntervalSince1970 * 1_000).rounded() }
        time = milliseconds.flatMap { Int64(exactly: $0) } ?? .min
        self.file = UInt32(clamping: file)
        self.offset = offset
    }

    var date: Date { time == .min ? .distantPast : Date(timeIntervalSince1970: Double(time) / 1_000) }
}

/// The captures of an archive by the hashes of their URLs, in 32 bytes each.
struct CaptureIndex: Sendable {
    /// Sorted by URL and time.
    private let captures: [CapturePlace]

    init(_ captures: [CapturePlace]) {
        self.captures = captures.sorted { ($0.url, $0.time) < ($1.url, $1.time) }
    }

    var count: Int { captures.count }

    /// The captures of a URL, the earliest first; those of another URL may be among them, whose hash is the same.
    func captures(of url: String) -> ArraySlice<CapturePlace> {
        let hash = url.hashValue
        let start = firstIndex { $0.url >= hash }
        return captures[start...].prefix { $0.url == hash }
    }

    /// The captures of a URL, the nearest to a time first.
    ///
    /// - Parameters:
    ///   - url: The URL in canonical form.
    ///   - time: The time; nil for the latest captures first. Of two captures that are as near, the later one is first.
    /// - Returns: The captures.
    func captures(of url: String, nearestTo time: Date?) -> [CapturePlace] {
        let found = captures(of: url).reversed()
        guard let time else { return Array(found) }
        // A sort of Swift keeps the order of equal elements.
        return found.sorted {
            abs($0.date.timeIntervalSince(time)) < abs($1.date.timeIntervalSince(time))
        }
    }

    /// The first place from which on all captures meet a condition, which none before it meets.
    private func firstIndex(where isAfter: (CapturePlace) -> Bool) -> Int {
        var range = captures.startIndex..<captures.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = isAfter(captures[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}
