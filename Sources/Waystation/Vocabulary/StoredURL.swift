/// A canonical URL as the keys of stored responses have it: without user information.
///
/// User information (`https://name:password@shop.example/`) is a credential. Like `Authorization`, it becomes part of
/// the name of a partition, so that it is neither on disk nor in events, and so that invalidations and removals of a URL
/// or host concern all its responses.
struct StoredURL {
    let text: String
    /// The user information that the URL had.
    let userInfo: String?

    init(canonical url: String) {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            (text, userInfo) = (url, nil)
            return
        }
        let start = bytes.index(colon, offsetBy: 3)
        let end = bytes[start...].firstIndex { byte in
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "@")
        }
        guard let end, bytes[end] == UInt8(ascii: "@") else {
            (text, userInfo) = (url, nil)
            return
        }
        text = "\(url[..<start])\(url[bytes.index(after: end)...])"
        userInfo = String(url[start..<end])
    }
}
