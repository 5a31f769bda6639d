import Foundation
import WaystationHTTP

/// Prints a crawl for programs: one JSON object a line, each with its name in `event`, and a `summary` at the end.
struct CrawlJSONLines: CrawlObserver {
    let terminal: Terminal

    func observe(_ event: CrawlEvent) {
        switch event {
        case .began(let settings, let known):
            emit(Began(event: "began", urls: settings.startURLs, known: known))
        case .settled(let record, let progress):
            emit(Settled(record, progress))
        case .disallowed(let url):
            emit(Named(event: "disallowed", url: url.string))
        case .retrying(let url, let reason, let attempt, let delay):
            emit(
                Retrying(
                    event: "retrying",
                    url: url.string,
                    reason: reason,
                    attempt: attempt,
                    seconds: delay / .seconds(1)
                )
            )
        case .ended(let summary):
            emit(Ended(event: "summary", summary: summary))
        }
    }

    func emit(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if let data = try? encoder.encode(value) { terminal.line(String(decoding: data, as: UTF8.self)) }
    }

    private struct Began: Encodable {
        let event: String
        let urls: [String]
        let known: Int
    }

    private struct Named: Encodable {
        let event: String
        let url: String
    }

    private struct Retrying: Encodable {
        let event: String
        let url: String
        let reason: String
        let attempt: Int
        let seconds: Double
    }

    private struct Settled: Encodable {
        let event: String
        let url: String
        let finalURL: String?
        let status: Int?
        let type: String?
        let bytes: Int
        let sha256: String?
        let seconds: Double
        let attempts: Int
        let isPage: Bool
        let fromArchive: Bool
        let error: String?
        let done: Int
        let known: Int

        init(_ record: LoadRecord, _ progress: CrawlProgress) {
            event =
                switch record.state {
                case .loaded: "loaded"
                case .broken: "broken"
                default: "failed"
                }
            url = record.url.string
            finalURL = record.finalURL?.string
            status = record.status
            type = record.mimeType
            bytes = record.size
            sha256 = record.digest.map { $0.map { String(format: "%02x", $0) }.joined() }
            seconds = record.duration
            attempts = record.attempts
            isPage = record.isPage
            fromArchive = record.isFromArchive
            error = record.error
            done = progress.done
            known = progress.known
        }
    }

    private struct Ended: Encodable {
        let event: String
        let summary: CrawlSummary
    }
}
