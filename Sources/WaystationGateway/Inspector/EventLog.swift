#if Gateway
import Foundation
import Synchronization
import Waystation
import WaystationRecording

/// The latest events of an interceptor that are not the end of a load: of the cache, the packs, logins and cookies.
final class EventLog: Sendable {
    /// An event as the page lists it.
    struct Row: Encodable, Sendable {
        let time: Date
        let text: String
        let isTrouble: Bool
    }

    static let limit = 500

    private let rows = Mutex<[Row]>([])

    /// The events, the latest first.
    var latest: [Row] { rows.withLock { $0.reversed() } }

    func add(_ event: LoadEvent, at time: Date) {
        switch event.kind {
        case .degraded, .store, .source, .login, .cookies: break
        default: return
        }
        var event = event
        // The events in this log are not about one load, so they have no URL.
        event.url = nil
        let row = Row(time: time, text: Redaction.standard.text(event.description), isTrouble: event.kind.isTrouble)
        rows.withLock { rows in
            rows.append(row)
            if rows.count > Self.limit { rows.removeFirst() }
        }
    }
}
#endif
