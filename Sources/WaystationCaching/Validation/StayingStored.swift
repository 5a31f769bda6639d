import HTTPTypes

extension StoredHead {
    /// Whether a stored response that was merged with a newer one may stay in the store.
    ///
    /// It may not if the newer response has `no-store` (RFC 9111 §5.2.2.5), or if no later request would match the
    /// merged `Vary` (§4.1).
    ///
    /// - Parameters:
    ///   - newer: The 304, or the response to a HEAD, that this head was updated from.
    ///   - rules: The caching rules.
    /// - Returns: Whether the merged response may be stored in place of the older one.
    func mayStayStored(after newer: HTTPResponse, _ rules: CachingRules) -> Bool {
        let fields = newer.headerFields
        let control = fields.contains(.cacheControl) ? CacheControl(fields) : cacheControl
        return control.allowsStoring(status: status, rules) && !vary.matchesNothing
    }

    /// The stored response without changes, except that it must be validated before its next use.
    var outdated: StoredHead {
        var head = self
        head.needsValidation = true
        return head
    }
}

extension CacheControl {
    /// Whether `no-store` and `must-understand` allow a response with this status code to be stored (RFC 9111 §5.2.2.3,
    /// §5.2.2.5).
    package func allowsStoring(status: Int, _ rules: CachingRules) -> Bool {
        mustUnderstand ? rules.understoodStatuses.contains(status) : !noStore
    }
}
