/// Redirects that lead in circles, to nowhere, or have endless bodies.
enum HostileRedirects {
    static func response(to path: String, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        let status = random.pick(["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent", "300 X"])
        let location = random.pick([
            path, path, path, "\(path)?\(String(repeating: "q", count: 60_000))", "", "//", "///", "http://",
            "http://[::1",
            "http://[::1]:1/", "http://127.0.0.1:1/", "http://127.0.0.1:99999/", "http://\u{0}/", "javascript:alert(1)",
            "file:///etc/passwd", "data:,x", "mailto:a@b", "http://user:pass@127.0.0.1:1/", "%", "?", "#",
            "http://\(String(repeating: "h", count: 5000))/", "HTTP://127.0.0.1:0/", "\u{FF}",
        ])
        var fields = "Location: \(location)\r\n"
        if random.once(in: 6) { fields += "Location: \(random.pick([path, "/other"]))\r\n" }
        if random.once(in: 6) { fields += "Set-Cookie: a=\(random.number(0...9))\r\n" }
        switch random.number(0...3) {
        case 0:
            return HostileResponse(
                "redirects",
                [.text("HTTP/1.1 \(status)\r\n\(fields)\r\n"), .flood(String(repeating: "endless ", count: 512))]
            )
        case 1:
            fields += "Content-Length: 9\r\n"
            return HostileResponse("redirects", [.text("HTTP/1.1 \(status)\r\n\(fields)\r\nshort")])
        case 2:
            fields += "Content-Length: 0\r\n"
            return HostileResponse("redirects", [.text("HTTP/1.1 \(status)\r\n\(fields)\r\n")], .keep)
        default:
            return HostileResponse("redirects", [.text("HTTP/1.1 \(status)\r\n\(fields)\r\n")])
        }
    }
}
