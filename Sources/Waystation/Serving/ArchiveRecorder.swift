import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import WaystationStorage

/// Writes a response into the archive as it arrives; it is committed when it has arrived whole.
final class ArchiveRecorder: Sendable {
    private struct State {
        var writer: ResponseWriter?
        var count = 0
    }

    private let entry: ArchiveEntry
    private let store: ResponseStore
    private let requestTime: Date
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    init(_ entry: ArchiveEntry, in store: ResponseStore, now: @escaping @Sendable () -> Date) {
        self.entry = entry
        self.store = store
        self.now = now
        requestTime = now()
    }

    /// Begins with a head, dropping what a head before it began.
    ///
    /// True when the response is being kept.
    func begin(_ head: HTTPURLResponse) -> Bool {
        let writer = ArchiveEntry.isStorable(head) ? store.begin(newResponse(head)) : nil
        let earlier = state.withLock { state in
            defer { state = State(writer: writer) }
            return state.writer
        }
        earlier?.abandon()
        return writer != nil
    }

    func append(_ part: Data) {
        let writer = state.withLock { state in
            state.count += part.count
            return state.writer
        }
        writer?.append(part)
    }

    /// Ends the recording: kept when it is complete, else without a trace.
    ///
    /// Returns the number of bytes kept.
    func end(isComplete: Bool) -> Int? {
        let state = state.withLock { state in
            defer { state = State() }
            return state
        }
        guard let writer = state.writer else { return nil }
        guard isComplete else {
            writer.abandon()
            return nil
        }
        writer.commit()
        return state.count
    }

    private func newResponse(_ head: HTTPURLResponse) -> NewResponse {
        var fields = StoredFields.normalized(head.allHeaderFields as? [String: String] ?? [:])
        if let url = head.url { StoredURL.put(url, into: &fields, asked: entry.key.url) }
        let length = head.value(forHTTPHeaderField: "Content-Encoding") == nil ? head.expectedContentLength : -1
        return NewResponse(
            key: entry.key,
            status: head.statusCode,
            headerFields: fields,
            vary: entry.vary(of: head),
            requestTime: requestTime,
            responseTime: now(),
            expectedLength: length >= 0 ? Int(length) : nil
        )
    }
}

/// The URL that a stored response came from, where redirects led away from the one that was asked for.
///
/// It is kept among the stored fields, under a name that no server's field can have kept: it is taken out
/// before a response is served and overwritten before one is stored.
enum StoredURL {
    private static let name = HTTPField.Name("Waystation-Response-URL")

    static func put(_ url: URL, into fields: inout HTTPFields, asked: String) {
        guard let name else { return }
        fields[name] = CanonicalRequest.url(of: url) == asked ? nil : url.absoluteString
    }

    static func take(from fields: inout HTTPFields) -> URL? {
        guard let name, let text = fields[name] else { return nil }
        fields[name] = nil
        return URL(string: text)
    }
}
