/// Compares paths as cookies do: byte by byte, in the form in which they are sent (RFC 6265 §5.1.4).
enum CookiePath {
    /// The path of a cookie without a `Path` attribute: the request's path up to its last slash.
    static func defaultPath(of requestPath: String) -> String {
        let octets = requestPath.utf8
        guard octets.first == UInt8(ascii: "/"), let last = octets.lastIndex(of: UInt8(ascii: "/")),
            last != octets.startIndex
        else { return "/" }
        return String(requestPath[..<last])
    }

    /// Whether a request's path equals a cookie's path or lies below it.
    static func matches(request requestPath: String, cookie cookiePath: String) -> Bool {
        let request = requestPath.utf8
        let cookie = cookiePath.utf8
        guard request.starts(with: cookie) else { return false }
        return request.count == cookie.count || cookie.last == UInt8(ascii: "/")
            || request.dropFirst(cookie.count).first == UInt8(ascii: "/")
    }
}
