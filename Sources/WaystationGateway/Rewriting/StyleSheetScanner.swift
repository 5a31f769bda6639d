#if Gateway
/// Rewrites the links of a style sheet.
struct StyleSheetScanner: LinkScanner {
    private var scanner: StyleScanner
    private var index = 0

    init(_ links: Links, limit: Int) { scanner = StyleScanner(links, limit: limit) }

    mutating func scan(_ text: UnsafeBufferPointer<UInt8>, isLast: Bool, _ output: inout RewrittenText) -> Int {
        var edits: [Links.Edit] = []
        scanner.scan(text, &index, to: text.count, isLast: isLast, &edits)
        for edit in edits { output.apply(edit, to: text) }
        let count = scanner.firstKept(index)
        scanner.shift(by: count)
        index -= count
        return count
    }
}
#endif
