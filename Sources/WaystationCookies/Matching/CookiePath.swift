/// Paths as cookies compare them: byte by byte, in the form they are sent in (RFC 6265 §5.1.4).
enum CookiePath {
    /// The path of a cookie that names none: that of the request up to its last slash.
    static func defaultPath(of requestPath: String) -> String {
        let octets = requestPath.utf8
        guard octets.first == UInt8(ascii: "/"), let last = octets.lastIndex(of: UInt8(ascii: "/")),
            last != octets.startIndex
        else { return "/" }
        return String(requestPath[..<last])
    }

    /// Whether a request's path lies at or below a cookie's.
    static func matches(request requestPath: String, cookie cookiePath: String) -> Bool {
        let request = requestPath.utf8
        let cookie = cookiePath.utf8
        guard request.starts(with: cookie) else { return false }
        return request.count == cookie.count || cookie.last == UInt8(ascii: "/")
            || request.dropFirst(cookie.count).first == UInt8(ascii: "/")
    }
}
