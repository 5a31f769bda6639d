#if Gateway
/// A browser that keeps what `Set-Cookie` says, by name.
struct CookieBrowser {
    var jar: [String: String] = [:]

    /// The field `Cookie` of its next request; empty without cookies.
    var field: [String] { jar.isEmpty ? [] : ["Cookie: " + jar.map { "\($0)=\($1)" }.joined(separator: "; ")] }

    /// The fields of a request for a document that the user asks for.
    var documentFields: [String] { field + ["Sec-Fetch-Dest: document", "Sec-Fetch-Site: none"] }

    mutating func take(_ response: RawResponse) {
        for field in response.all("Set-Cookie") {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            if field.contains("Max-Age=0") {
                jar[pair[0]] = nil
            } else {
                jar[pair[0]] = pair.count > 1 ? pair[1] : ""
            }
        }
    }
}
#endif
