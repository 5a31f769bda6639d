extension CanonicalURL {
    /// The host that a text consists of, in the spelling of ``host``; nil if the text has other parts than a host.
    ///
    /// An IPv6 address may lack its brackets.
    package static func host(_ text: String) -> String? {
        let isBareAddress = text.utf8.count { $0 == UInt8(ascii: ":") } > 1 && !text.hasPrefix("[")
        let authority = isBareAddress ? "[\(text)]" : text
        // The URL below would leave out the standard port, empty user information, dot segments and a fragment.
        let name = authority.hasPrefix("[") ? authority.drop { $0 != "]" } : authority[...]
        guard !name.contains(where: ":@/#".contains) else { return nil }
        guard let url = CanonicalURL("http://\(authority)/"), url.string == "http://\(url.host)/" else { return nil }
        return String(url.host)
    }
}
