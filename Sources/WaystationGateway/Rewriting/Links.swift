#if Gateway
/// The URLs of a page, and the form in which a browser follows them at the gateway.
struct Links: Sendable {
    /// A replacement of a part of a text.
    struct Edit: Equatable {
        /// The places of the bytes that are replaced.
        let range: Range<Int>
        let text: [UInt8]
    }

    let names: LocalNames
    /// The scheme of the page's origin.
    let pageScheme: String
    /// The page's origin; nil if it is not known.
    let page: OriginName?
    /// The scheme of the page's base URL, which URLs without a scheme have.
    private(set) var scheme: String
    /// The scheme that a browser gives to such URLs: `http` as long as the base URL is one of the gateway.
    private var browserScheme = "http"
    /// Whether a rule takes a URL.
    let isServed: @Sendable (String) -> Bool

    init(
        names: LocalNames,
        scheme: String,
        page: OriginName? = nil,
        isServed: @escaping @Sendable (String) -> Bool
    ) {
        self.names = names
        self.page = page
        pageScheme = scheme
        self.scheme = scheme
        self.isServed = isServed
    }

    /// The page names its base URL.
    mutating func setBase(_ base: AbsoluteURL) {
        scheme = base.origin.scheme
        browserScheme = local(base) == nil ? scheme : "http"
    }

    /// The gateway's URL, without a path, that takes the place of a URL; nil if the URL stays as it is.
    private func local(_ url: AbsoluteURL) -> String? {
        guard !names.isReserved(url.origin), isServed(url.text) else { return nil }
        return names.authority(of: url.origin).map { "http://" + $0 }
    }

    /// Makes a URL that a rule takes lead to the gateway.
    ///
    /// Any other URL without a scheme gets the scheme of the page's base URL: a browser would give it the `http` of the
    /// gateway's own page, and load a script without encryption.
    ///
    /// Only scheme, host and port are replaced, with letters, digits and `:/.-_`. These mean the same in every context
    /// of HTML, CSS and JavaScript, so no replacement can end a string or a tag.
    ///
    /// - Parameters:
    ///   - text: The decoded text.
    ///   - range: The part of it that is a URL.
    /// - Returns: The edit; nil if the URL stays as it is.
    func edit(_ text: MappedBytes, _ range: Range<Int>) -> Edit? {
        if let url = AbsoluteURL(text, range, base: scheme), let local = local(url) {
            return Edit(range: url.prefix, text: Array(local.utf8))
        }
        guard scheme != browserScheme, let place = AbsoluteURL.placeOfMissingScheme(text, range) else { return nil }
        return Edit(range: place..<place, text: Array((scheme + ":").utf8))
    }
}
#endif
