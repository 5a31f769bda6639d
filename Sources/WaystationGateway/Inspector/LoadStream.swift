#if Gateway
import Dispatch
import Foundation
import NIOCore
import Synchronization

/// Writes the loads of a log to one browser, as fast as the browser takes them.
///
/// Events: `load` with a ``LoadSummary`` and the load's number as the event's ID, `missed` with the number of loads
/// that were gone before the browser took them, and `cleared`. Nothing is kept for a slow browser: the next events are
/// made when the connection takes bytes again.
final class LoadStream {
    private static let batch = 50

    private let log: LoadLog
    private let channel: any Channel
    private let writer: ResponseWriter
    private let queue: DispatchQueue
    private let isWoken = WokenFlag()
    private var last: Int
    private var clears: Int
    private var isMaking = false
    private var isOver = false
    private var endListening: (@Sendable () -> Void)?

    /// Makes a stream; call this and everything else on the channel's event loop.
    ///
    /// - Parameters:
    ///   - log: The loads.
    ///   - number: The number of the last load that the browser has.
    ///   - channel: The connection.
    ///   - writer: Writes the response, which has begun.
    ///   - queue: Makes the texts of the events.
    init(
        _ log: LoadLog,
        after number: Int,
        on channel: any Channel,
        _ writer: ResponseWriter,
        encodingOn queue: DispatchQueue
    ) {
        self.log = log
        self.channel = channel
        self.writer = writer
        self.queue = queue
        last = number
        let news = log.news(after: number, limit: 0)
        // A browser that was not connected when the log was cleared learns of it now.
        clears = news.isStale ? news.clears - 1 : news.clears
    }

    func start() {
        write("retry: 2000\n\n")
        let (loop, isWoken) = (channel.eventLoop, isWoken)
        let bound = NIOLoopBound(self, eventLoop: loop)
        endListening = log.listen {
            // One turn of the event loop serves all loads that end before it.
            guard isWoken.raise() else { return }
            loop.execute {
                isWoken.lower()
                bound.value.goOn()
            }
        }
        goOn()
    }

    func end() {
        isOver = true
        endListening?()
        endListening = nil
    }

    /// Writes the next events if there are any, and if the connection takes them.
    func goOn() {
        guard !isOver, !isMaking, channel.isWritable else { return }
        let news = log.news(after: last, limit: Self.batch)
        let isCleared = news.clears != clears
        guard isCleared || !news.loads.isEmpty else { return }
        clears = news.clears
        last = news.loads.last?.number ?? last
        isMaking = true
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        queue.async { [loop = channel.eventLoop] in
            let text = Self.text(of: news, isCleared: isCleared)
            loop.execute {
                bound.value.isMaking = false
                guard !bound.value.isOver else { return }
                bound.value.write(text)
                bound.value.goOn()
            }
        }
    }

    private func write(_ text: String) {
        writer.append(text.utf8)
        writer.flush()
    }

    private static func text(of news: LoadLog.News, isCleared: Bool) -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.outputFormatting = .withoutEscapingSlashes
        var text = isCleared ? "event: cleared\ndata:\n\n" : ""
        if news.missed > 0 { text += "event: missed\ndata: \(news.missed)\n\n" }
        for load in news.loads {
            // The JSON of a load has no line ends outside of strings, and none unescaped within them.
            guard let data = try? encoder.encode(LoadSummary(load)) else { continue }
            text += "id: \(load.number)\nevent: load\ndata: \(String(decoding: data, as: UTF8.self))\n\n"
        }
        return text
    }
}

/// A flag that is up from the request to look for news until the event loop looks.
private final class WokenFlag: Sendable {
    private let isRaised = Atomic(false)

    /// Raises the flag, and returns whether it was down.
    func raise() -> Bool { !isRaised.exchange(true, ordering: .acquiringAndReleasing) }

    func lower() { isRaised.store(false, ordering: .releasing) }
}
#endif
