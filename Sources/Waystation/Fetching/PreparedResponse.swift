import Foundation
import HTTPTypes
import Synchronization
import WaystationCaching
import WaystationStorage
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The values that a hit has made of a stored response, kept beside it in memory for the hits that follow.
final class PreparedResponse: Sendable {
    /// The latest hit, for the requests that follow it.
    let lastHit = Mutex<RepeatedHit?>(nil)
    /// The response that was made last, and the values that it was made from.
    private let made = Mutex<Made?>(nil)

    private struct Made: Sendable {
        let response: HTTPURLResponse
        let url: URL
        let age: Int64
        let timeToLive: Int64?
        let answer: StoredAnswer
    }

    /// The age that the response made last states, in seconds.
    var toldAge: Int64? { made.withLock { $0?.age } }

    static func of(_ stored: StoredResponse) -> PreparedResponse {
        stored.prepared.withLock { prepared in
            if let prepared = prepared as? PreparedResponse { return prepared }
            let made = PreparedResponse()
            prepared = made
            return made
        }
    }

    /// The response for a selection; a new one is made when the age that the last one states is more than a second
    /// behind.
    ///
    /// Making one costs several times as much as all other work for a hit, and `Age` is an estimate in whole seconds
    /// (RFC 9111 §5.1), so it may be a second behind.
    static func response(
        for stored: StoredResponse,
        _ selection: StoredSelection,
        to request: URLRequest,
        _ status: CacheStatus
    ) -> HTTPURLResponse? {
        guard let url = request.url else { return nil }
        guard case .hit = status.outcome else {
            return .make(selection, length: stored.body.length, to: url, status)
        }
        let prepared = of(stored)
        let age = selection.freshness.age.components.seconds
        let timeToLive = status.timeToLive?.components.seconds
        if let made = prepared.made.withLock({ $0 }), 0...1 ~= age - made.age, made.answer == selection.answer,
            made.url == url, timeToLive.map({ $0 + age }) == made.timeToLive.map({ $0 + made.age })
        {
            return made.response
        }
        let response = HTTPURLResponse.make(selection, length: stored.body.length, to: url, status)
        guard let response else { return nil }
        let made = Made(response: response, url: url, age: age, timeToLive: timeToLive, answer: selection.answer)
        prepared.made.withLock { $0 = made }
        return response
    }
}

extension HTTPURLResponse {
    /// Makes the response for a selection; nil if Foundation makes none of these values.
    static func make(
        _ selection: StoredSelection,
        length: Int,
        to url: URL?,
        _ status: CacheStatus
    ) -> HTTPURLResponse? {
        guard let url else { return nil }
        let (code, fields) = selection.parts
        var head = ResponseHead(url: url, statusCode: code, fields: fields.dictionary)
        switch selection.answer {
        case .whole, .head: head = head.setting("Content-Length", to: String(length))
        case .part, .notModified, .rangeNotSatisfiable: break
        }
        return head.adding(status).response
    }
}
