import HTTPTypes
import Waystation
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// An exchange of a recording of any format, in the form that the cache needs.
struct ArchivedExchange {
    var method: String
    var url: String
    var requestFields: HTTPFields
    var status: Int
    var fields: HTTPFields
    /// The body without transfer and content coding.
    var body: Data
    var requestTime: Date?
    var responseTime: Date?
}

extension ArchivedExchange {
    /// Makes the head of the response to store.
    ///
    /// The decision is the same as that of a rule with its own time limit about the responses that it loads.
    ///
    /// - Throws: ``ImportRefusal`` with the reason why the response is not stored.
    func prepared(
        _ options: ImportOptions,
        maximumAge: Duration,
        now: Date
    ) throws(ImportRefusal) -> StoredHead {
        let (url, target) = try address()
        guard method == "GET" else { throw ImportRefusal(.method, "its method is \(method.shown(upTo: 20))") }
        guard 200...399 ~= status else {
            throw ImportRefusal(.status, status == 0 ? "there is no response" : "its status is \(status)")
        }
        let times = try times(options, maximumAge: maximumAge, now: now)
        guard
            let head = HTTPURLResponse(
                url: target,
                statusCode: status,
                httpVersion: "HTTP/1.1",
                headerFields: responseFields(options, receivedAt: times.response).dictionary
            )
        else { throw ImportRefusal(.damagedHead, "Foundation cannot represent the head of the response") }
        var request = URLRequest(url: target)
        request.allHTTPHeaderFields = requestFields.dictionary
        if options.includesNoStore { request.setValue(nil, forHTTPHeaderField: "Cache-Control") }
        guard let presented = CacheRequest(request, canonical: url) else {
            throw ImportRefusal(.url, "the URL is not a web address, or the Host field names another host")
        }
        if let credentials = requestFields[.authorization], credentials.contains(Redaction.placeholder) {
            throw ImportRefusal(
                .redacted,
                "the request had credentials, which are redacted, so no later request can match the entry"
            )
        }
        let decision = CacheStrategy.cacheOnly.storing(
            ResponseHead(head),
            to: presented.message,
            requestTime: times.request,
            responseTime: times.response,
            rules: options.cachingRules
        )
        switch decision {
        case .refuse(let refusal): throw ImportRefusal(refusal, status: status)
        case .store(var stored):
            for nominee in stored.vary.nominees where nominee.value?.contains(Redaction.placeholder) ?? false {
                let name = nominee.name.rawName.shown()
                throw ImportRefusal(.redacted, "the response varies by \(name), which is redacted")
            }
            stored.contentLength = body.count
            return stored.under(presented.key)
        }
    }

    /// When the response was captured; nil if the recording has no time for it.
    var captured: Date? { responseTime ?? requestTime }

    private func address() throws(ImportRefusal) -> (canonical: CanonicalURL, URL) {
        let canonical = try Self.address(url)
        guard let target = URL(string: canonical.string, encodingInvalidCharacters: false) else {
            throw ImportRefusal(.url, "its URL is not valid")
        }
        return (canonical, target)
    }

    /// The URL under which a live load of a recorded URL is stored.
    ///
    /// A browser sends some characters as they are that RFC 3986 does not allow, and records them so; a gateway loads them
    /// percent-encoded.
    ///
    /// - Throws: ``ImportRefusal`` for a URL that is not valid, or neither http nor https.
    static func address(_ url: String) throws(ImportRefusal) -> CanonicalURL {
        let text = url.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let canonical = CanonicalURL(text).flatMap({ CanonicalURL($0.string.encodedForURL) }) else {
            let scheme = text.prefix { $0 != ":" }
            let isWeb = scheme.equalsIgnoringCase("http") || scheme.equalsIgnoringCase("https")
            throw ImportRefusal(.url, isWeb ? "its URL is not valid" : "the URL is neither http nor https")
        }
        guard canonical.scheme == "http" || canonical.scheme == "https" else {
            throw ImportRefusal(.url, "the URL is neither http nor https")
        }
        return canonical
    }

    private func times(
        _ options: ImportOptions,
        maximumAge: Duration,
        now: Date
    ) throws(ImportRefusal) -> (request: Date, response: Date) {
        // An exchange without a recorded time counts as made just now.
        guard options.time == .recorded, let recorded = captured else { return (now, now) }
        let response = min(recorded, now)
        guard now.timeIntervalSince(response) <= maximumAge.inSeconds else {
            throw ImportRefusal(.tooOld, "the response is older than the cache keeps responses")
        }
        return (min(requestTime ?? response, response), response)
    }

    /// The response's fields, changed to fit the stored response.
    private func responseFields(_ options: ImportOptions, receivedAt received: Date) -> HTTPFields {
        var fields = fields
        if options.ignoresVary {
            fields[.vary] = nil
        } else if let vary = fields[.vary] {
            // One representation is stored, without content coding, for all requests.
            let names = vary.listMembers.filter { !$0.equalsIgnoringCase("Accept-Encoding") }
            fields[.vary] = names.isEmpty ? nil : names.joined(separator: ", ")
        }
        if options.includesNoStore, let control = fields[.cacheControl] {
            fields[.cacheControl] = control.quotedListMembers
                .map { $0.equalsIgnoringCase("no-store") ? "no-cache" : $0 }.joined(separator: ", ")
        }
        if options.time == .now { fields.move(to: received) }
        return fields
    }
}

extension HTTPFields {
    /// Changes the times so that the response is as old at `received` as it was when its origin made it.
    fileprivate mutating func move(to received: Date) {
        let present = HTTPDate(nearestTo: received.timeIntervalSince1970)
        if let date = self[.date].flatMap({ HTTPDate(cached: $0, now: present) }),
            let expires = self[.expires].flatMap({ HTTPDate(cached: $0, now: present) })
        {
            let moved = present.secondsSinceEpoch + expires.secondsSinceEpoch - date.secondsSinceEpoch
            self[.expires] = HTTPDate(nearestTo: moved).fieldValue
        }
        self[.date] = present.fieldValue
        self[.age] = nil
    }
}

extension ImportRefusal {
    /// Translates a refusal of the caching rules into an import refusal.
    fileprivate init(_ refusal: StoringRefusal, status: Int) {
        switch refusal {
        case .requestNoStore: self.init(.noStore, "its request says no-store")
        case .responseNoStore: self.init(.noStore, "it says no-store")
        case .personal: self.init(.notStorable, "it is meant for one user")
        case .method: self.init(.method, "its method is not GET")
        case .target: self.init(.url, "its URL is not absolute")
        case .variesOnEverything: self.init(.notStorable, "the response says Vary: *, which no request matches")
        case .tooManyFields: self.init(.notStorable, "the response has too many fields")
        case .incomplete, .uncertainLength, .uncheckedCoding: self.init(.incomplete, "the body is not complete")
        case .notUnderstood: self.init(.notStorable, "the response says must-understand, and has the status \(status)")
        case .interim, .partialContent, .notModified, .conditional, .uncacheableStatus, .notMarkedStorable:
            self.init(.status, "its status is \(status)")
        }
    }
}
