// Members that may be missing or of another type in files of real programs are read as if they were absent. An exchange
// cannot do without its request's method and URL, so those are required.

extension HARArchive: Codable {
    private enum Top: String, CodingKey { case log }
    private enum Log: String, CodingKey { case version, creator, entries, comment }

    /// Reads the object of a whole file.
    public init(from decoder: any Decoder) throws {
        let log = try decoder.container(keyedBy: Top.self).nestedContainer(keyedBy: Log.self, forKey: .log)
        let version = log.text(.version) ?? "1.1"
        guard ["", "1.1", "1.2", "1.3"].contains(version) else {
            throw DecodingError.dataCorruptedError(
                forKey: .version,
                in: log,
                debugDescription: "the version is \(version), but only 1.1 to 1.3 can be read"
            )
        }
        self.init(
            creator: log.value(.creator) ?? Creator(name: "", version: ""),
            entries: try log.decode([Entry].self, forKey: .entries),
            comment: log.text(.comment)
        )
    }

    /// Writes the object of a whole file.
    public func encode(to encoder: any Encoder) throws {
        var top = encoder.container(keyedBy: Top.self)
        var log = top.nestedContainer(keyedBy: Log.self, forKey: .log)
        try log.encode(Self.version, forKey: .version)
        try log.encode(creator, forKey: .creator)
        try log.encode(entries, forKey: .entries)
        try log.encodeIfPresent(comment, forKey: .comment)
    }
}

extension HARArchive.Entry: Codable {
    private enum Key: String, CodingKey {
        case startedDateTime, time, request, response, cache, timings, comment
        case source = "_servedFrom"
        case order = "_order"
    }
    private struct Empty: Encodable {}

    /// Reads an entry.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        self.init(
            started: object.text(.startedDateTime).flatMap(Timestamp.date),
            time: object.number(.time) ?? 0,
            request: try object.decode(HARArchive.Request.self, forKey: .request),
            response: try object.undamaged(.response) ?? HARArchive.Response(status: 0),
            timings: object.value(.timings) ?? HARArchive.Timings(),
            source: object.text(.source),
            comment: object.text(.comment)
        )
        order = object.value(.order)
    }

    /// Writes an entry.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(started.map(Timestamp.text) ?? "1970-01-01T00:00:00.000Z", forKey: .startedDateTime)
        try object.encode(time, forKey: .time)
        try object.encode(request, forKey: .request)
        try object.encode(response, forKey: .response)
        try object.encode(Empty(), forKey: .cache)
        try object.encode(timings, forKey: .timings)
        try object.encodeIfPresent(source, forKey: .source)
        try object.encodeIfPresent(order, forKey: .order)
        try object.encodeIfPresent(comment, forKey: .comment)
    }
}

extension HARArchive.Timings: Decodable {
    private enum Key: String, CodingKey { case blocked, dns, connect, ssl, send, wait, receive }

    /// Reads durations; a missing one is unknown.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        self.init(
            blocked: object.number(.blocked) ?? -1,
            dns: object.number(.dns) ?? -1,
            connect: object.number(.connect) ?? -1,
            ssl: object.number(.ssl) ?? -1,
            send: object.number(.send) ?? -1,
            wait: object.number(.wait) ?? -1,
            receive: object.number(.receive) ?? -1
        )
    }
}

extension HARArchive.Request: Codable {
    private enum Key: String, CodingKey {
        case method, url, httpVersion, cookies, headers, queryString, postData, headersSize, bodySize
    }

    /// Reads a request.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        self.init(
            method: try object.decode(String.self, forKey: .method),
            url: try object.decode(String.self, forKey: .url),
            httpVersion: object.text(.httpVersion) ?? "",
            cookies: object.value(.cookies) ?? [],
            headers: try object.fields(.headers),
            queryString: object.value(.queryString) ?? [],
            postData: object.value(.postData),
            bodySize: object.count(.bodySize)
        )
    }

    /// Writes a request.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(method, forKey: .method)
        try object.encode(url, forKey: .url)
        try object.encode(httpVersion, forKey: .httpVersion)
        try object.encode(cookies, forKey: .cookies)
        try object.encode(headers, forKey: .headers)
        try object.encode(queryString, forKey: .queryString)
        try object.encodeIfPresent(postData, forKey: .postData)
        try object.encode(-1, forKey: .headersSize)
        try object.encode(bodySize, forKey: .bodySize)
    }
}

extension HARArchive.PostData: Codable {
    private enum Key: String, CodingKey {
        case mimeType, text, params
        case encoding = "_encoding"
    }

    /// Reads a body; a body given only as parameters has no text.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        self.init(
            mimeType: object.text(.mimeType) ?? "",
            text: object.text(.text) ?? "",
            encoding: object.text(.encoding)
        )
    }

    /// Writes a body.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(mimeType, forKey: .mimeType)
        try object.encode([HARArchive.Pair](), forKey: .params)
        try object.encode(text, forKey: .text)
        try object.encodeIfPresent(encoding, forKey: .encoding)
    }
}

extension HARArchive.Response: Codable {
    private enum Key: String, CodingKey {
        case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
        case error = "_error"
        /// The name that Playwright gives it.
        case failureText = "_failureText"
    }

    /// Reads a response.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        self.init(
            status: max(0, object.count(.status)),
            statusText: object.text(.statusText) ?? "",
            httpVersion: object.text(.httpVersion) ?? "",
            cookies: object.value(.cookies) ?? [],
            headers: try object.fields(.headers),
            content: try object.undamaged(.content) ?? HARArchive.Content(size: -1),
            redirectURL: object.text(.redirectURL) ?? "",
            bodySize: object.count(.bodySize)
        )
        error = object.text(.error) ?? object.text(.failureText)
    }

    /// Writes a response.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(status, forKey: .status)
        try object.encode(statusText, forKey: .statusText)
        try object.encode(httpVersion, forKey: .httpVersion)
        try object.encode(cookies, forKey: .cookies)
        try object.encode(headers, forKey: .headers)
        try object.encode(content, forKey: .content)
        try object.encode(redirectURL, forKey: .redirectURL)
        try object.encode(-1, forKey: .headersSize)
        try object.encode(bodySize, forKey: .bodySize)
        try object.encodeIfPresent(error, forKey: .error)
    }
}

extension HARArchive.Content: Codable {
    private enum Key: String, CodingKey {
        case size, mimeType, text, encoding, comment
        case isTruncated = "_truncated"
        case file = "_file"
        case isBinary = "_isBinary"
    }

    /// Reads a body.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        self.init(
            size: object.count(.size),
            mimeType: object.text(.mimeType) ?? "",
            text: try object.undamaged(.text),
            encoding: object.text(.encoding).flatMap { $0.isEmpty ? nil : $0 },
            isTruncated: object.value(.isTruncated) ?? false,
            comment: object.text(.comment)
        )
        file = object.text(.file)
        isBinary = object.value(.isBinary) ?? false
    }

    /// Writes a body.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(size, forKey: .size)
        try object.encode(mimeType, forKey: .mimeType)
        try object.encodeIfPresent(text, forKey: .text)
        try object.encodeIfPresent(encoding, forKey: .encoding)
        if isTruncated { try object.encode(true, forKey: .isTruncated) }
        try object.encodeIfPresent(file, forKey: .file)
        if isBinary { try object.encode(true, forKey: .isBinary) }
        try object.encodeIfPresent(comment, forKey: .comment)
    }
}

/// The lines of one header field: Polly.js wrote them as an array of values up to its version 1.
///
/// A field without a name, or whose value is no text, number or array of texts, has no lines.
private struct FieldLines: Decodable {
    let pairs: [HARArchive.Pair]

    private enum Key: String, CodingKey {
        case name, value
    }

    init(from decoder: any Decoder) throws {
        guard let object = try? decoder.container(keyedBy: Key.self), let name = object.text(.name) else {
            pairs = []
            return
        }
        // One value is tried first, because an attempt that fails makes an error.
        let text: String? = try object.undamaged(.value)
        if let value = text ?? object.wholeNumber(.value) {
            pairs = [HARArchive.Pair(name, value)]
        } else {
            let values: [String]? = object.value(.value)
            pairs = (values ?? []).map { HARArchive.Pair(name, $0) }
        }
    }
}

extension KeyedDecodingContainer {
    /// The header fields of a key; empty when it is missing.
    fileprivate func fields(_ key: Key) throws -> [HARArchive.Pair] {
        let lines: [FieldLines]? = try undamaged(key)
        return (lines ?? []).flatMap(\.pairs)
    }

    /// The value of a key; nil when it is missing or of another type.
    fileprivate func value<Value: Decodable>(_ key: Key) -> Value? { try? decodeIfPresent(Value.self, forKey: key) }

    /// The value of a key; nil when it is missing or of another type.
    ///
    /// - Throws: The error of a text that is not valid, such as half a surrogate pair: a body or a field that is read as if
    ///   it were absent would hide that.
    fileprivate func undamaged<Value: Decodable>(_ key: Key) throws -> Value? {
        do { return try decodeIfPresent(Value.self, forKey: key) } catch let error as DecodingError {
            if case .dataCorrupted = error { throw error }
            return nil
        } catch {
            // Foundation's own error of such a text would become one of the whole entry, without a reason.
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "the text has half of a surrogate pair, or bytes that are not UTF-8"
            )
        }
    }

    fileprivate func text(_ key: Key) -> String? { value(key) }

    fileprivate func number(_ key: Key) -> Double? { value(key) }

    /// The text of a whole number, such as the value of `Content-Length`.
    fileprivate func wholeNumber(_ key: Key) -> String? {
        let number: Int? = value(key)
        return number.map(String.init)
    }

    /// The count of a key, also if it is written as a text; -1 if the object has no such key.
    fileprivate func count(_ key: Key) -> Int {
        (number(key) ?? text(key).flatMap(Double.init)).flatMap { Int(exactly: $0.rounded()) } ?? -1
    }
}
