#if Gateway
/// The URLs of a page that are followed within the gateway, and their form there.
struct Links: Sendable {
    /// A replacement of a part of a text.
    struct Edit: Equatable {
        /// The places of the bytes that are replaced.
        let range: Range<Int>
        let text: [UInt8]
    }

    let names: LocalNames
    /// The scheme of the page's base URL, which URLs without a scheme have.
    var scheme: String
    /// Whether a rule takes a URL.
    let isServed: @Sendable (String) -> Bool

    /// Makes a URL that a rule takes lead to the gateway.
    ///
    /// Only scheme, host and port are replaced, with letters, digits and `:/.-_`. These mean the same in every context
    /// of HTML, CSS and JavaScript, so no replacement can end a string or a tag.
    ///
    /// - Parameters:
    ///   - text: The decoded text.
    ///   - range: The part of it that is a URL.
    /// - Returns: The edit; nil if the URL stays as it is.
    func edit(_ text: MappedBytes, _ range: Range<Int>) -> Edit? {
        guard let url = AbsoluteURL(text, range, base: scheme), isServed(url.text) else { return nil }
        return Edit(range: url.prefix, text: Array(local(url.origin).utf8))
    }

    /// The gateway's URL for an origin, without a path.
    func local(_ origin: OriginName) -> String { "http://" + names.authority(of: origin) }
}
#endif
