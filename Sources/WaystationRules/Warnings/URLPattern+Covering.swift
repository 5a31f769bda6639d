import WaystationFields

/// Comparisons of whole sets of URLs, which return `true` only when the result is certain.
extension URLPattern {
    /// Returns true if this pattern matches every URL of the other pattern; queries are not compared.
    func coversAddresses(of other: URLPattern) -> Bool {
        coversScheme(of: other) && coversPort(of: other) && coversHost(of: other)
            && PathSegmentPattern.cover(path, other.path)
    }

    /// Returns true if the pattern matches the base itself or some URL below it.
    package func takesSomething(below base: CanonicalURL) -> Bool {
        guard takesScheme(of: base), takesHost(of: base), takesPort(of: base) else { return false }
        var folders = base.plain.pathSegments
        if folders.last?.isEmpty ?? false { folders.removeLast() }
        return PathSegmentPattern.mayBegin(path, with: folders)
    }

    private func coversScheme(of other: URLPattern) -> Bool {
        switch (scheme, other.scheme) {
        case (.web, .web), (.web, .named("http")), (.web, .named("https")): true
        case (.named(let name), .named(let found)): name == found
        case (.named, .web), (.web, .named): false
        }
    }

    private func coversPort(of other: URLPattern) -> Bool {
        switch (port, other.port) {
        case (.any, _), (.standard, .standard): true
        case (.exact(let number), .exact(let found)): number == found
        case (.exact(let number), .standard):
            if case .named(let name) = other.scheme { KnownScheme(name.utf8)?.defaultPort == number } else { false }
        case (.standard, .exact), (_, .any): false
        }
    }

    private func coversHost(of other: URLPattern) -> Bool {
        switch (host, other.host) {
        case (.any, _): true
        case (_, .any), (.exact, .subdomains), (.exact, .domain): false
        case (.exact(let name), .exact(let found)): name == found
        case (.subdomains(let name), .exact(let found)), (.subdomains(let name), .domain(let found)):
            Self.isSubdomain(found[...], of: name)
        case (.subdomains(let name), .subdomains(let found)), (.domain(let name), .exact(let found)),
            (.domain(let name), .subdomains(let found)), (.domain(let name), .domain(let found)):
            name == found || Self.isSubdomain(found[...], of: name)
        }
    }
}

extension PathSegmentPattern {
    /// Returns true if `segments` match every path that `others` match.
    ///
    /// The wildcards of `others` are treated as symbols that only a wildcard matches, so this is glob matching that
    /// backtracks to the last `**`.
    ///
    /// - Complexity: O(segments × others).
    static func cover(_ segments: [PathSegmentPattern], _ others: [PathSegmentPattern]) -> Bool {
        var next = 0
        var position = 0
        var retry: (next: Int, position: Int)?
        while true {
            if next < segments.count, segments[next] == .anyDepth {
                next += 1
                if next == segments.count { return true }
                retry = (next, position)
            } else if position < others.count, next < segments.count, segments[next].covers(others[position]) {
                next += 1
                position += 1
            } else if position == others.count, next == segments.count {
                return true
            } else {
                guard let (segment, tried) = retry, tried < others.count else { return false }
                next = segment
                position = tried + 1
                retry = (segment, position)
            }
        }
    }

    /// Returns true if this segment matches every segment that `other` matches.
    private func covers(_ other: PathSegmentPattern) -> Bool {
        switch (self, other) {
        case (_, .anyDepth): false
        case (.any, _), (.anyDepth, _): true
        case (.literal(let text), .literal(let found)): text == found
        // A star in the other text is a byte that only a star of this text matches.
        case (.glob, .literal(let found)), (.glob, .glob(let found)):
            found.withUnsafeBufferPointer { takes($0, 0, found.count) }
        case (.literal, _), (.glob, .any): false
        }
    }

    /// Returns true if the segments match some path that consists of the folders or begins with them.
    ///
    /// - Complexity: O(segments × folders).
    static func mayBegin(_ segments: [PathSegmentPattern], with folders: [Substring]) -> Bool {
        // The places in `segments` that the folders so far can reach; a `**` may be skipped as soon as it is reached.
        var reached = Array(repeating: false, count: segments.count + 1)
        func reach(_ place: Int, in places: inout [Bool]) {
            var place = place
            places[place] = true
            while place < segments.count, segments[place] == .anyDepth {
                place += 1
                places[place] = true
            }
        }
        reach(0, in: &reached)
        for folder in folders {
            let bytes = Array(folder.utf8)
            var next = Array(repeating: false, count: segments.count + 1)
            for place in segments.indices where reached[place] {
                if segments[place] == .anyDepth {
                    reach(place, in: &next)
                } else if segments[place].covers(.literal(bytes)) {
                    reach(place + 1, in: &next)
                }
            }
            reached = next
        }
        return reached.contains(true)
    }
}

extension URLPattern {
    /// A message for a path that matches less than its author probably meant; nil for every other path.
    var narrowPathMessage: String? {
        let host = text[..<authorityEnd]
        let tail = text[authorityEnd...]
        if tail.utf8.first != UInt8(ascii: "/") {
            return """
                a pattern without a path takes only the front page; write `\(host)/**\(tail)` for every page of the \
                host, or `\(host)/\(tail)` for the front page
                """
        }
        guard path == [.any] else { return nil }
        let query = tail.utf8.firstIndex(of: UInt8(ascii: "?")).map { tail[$0...] } ?? ""
        return """
            `/*` takes only paths of one segment, such as `/a` and not `/a/b`; write `\(host)/**\(query)` for every \
            page of the host
            """
    }

    /// A message for an unclosed `[` in the path or in the query; nil if each `[` is closed.
    var unclosedBracketMessage: String? {
        let tail = text.utf8[authorityEnd...]
        guard let bracket = tail.lastIndex(of: UInt8(ascii: "[")), !tail[bracket...].contains(UInt8(ascii: "]")) else {
            return nil
        }
        return """
            the `[` is not closed and stands for the character itself, since patterns have no character classes; write \
            `*`, or one rule for each character
            """
    }
}
