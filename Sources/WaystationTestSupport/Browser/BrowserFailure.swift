/// An error that says what a browser, or a page in it, did not do.
public struct BrowserFailure: Error, CustomStringConvertible {
    /// A sentence that says what went wrong.
    public let description: String

    init(_ description: String) { self.description = description }
}
