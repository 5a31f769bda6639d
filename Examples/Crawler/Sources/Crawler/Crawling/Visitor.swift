import Foundation
import FoundationNetworking
import SiteTools
import WaystationHTTP

/// Loads one document and reads its links; this is the part of a visit that needs no state of the crawl.
struct Visitor: Sendable {
    let loader: Loader
    let agent: String

    struct Outcome: Sendable {
        enum Result: Sendable {
            case answered(LoadedResponse, ExtractedLinks)
            case failed(URLError.Code, message: String)
            case cancelled
        }

        var result: Result
        let startedAt: Date
        let duration: TimeInterval
    }

    func visit(_ resource: Resource) async -> Outcome {
        let kind = resource.kind
        let startedAt = Date()
        let clock = ContinuousClock()
        let start = clock.now
        func outcome(_ result: Outcome.Result, _ duration: Duration) -> Outcome {
            Outcome(result: result, startedAt: startedAt, duration: duration / .seconds(1))
        }
        do {
            var response = try await loader.load(resource.url) {
                kind.isSitemap || LinkExtractor.mayHoldLinks(mimeType: $0)
            }
            let duration = clock.now - start
            let url = response.finalURL ?? resource.url
            var links = ExtractedLinks()
            if (200..<300).contains(response.status), let body = response.body {
                links = LinkExtractor.links(
                    in: body,
                    mimeType: response.mimeType,
                    charset: response.charset,
                    url: url,
                    kind: kind,
                    linkCharset: resource.linkCharset
                )
            }
            // Browsers obey the field in pages and frames of any type.
            if !kind.isRequisite || kind == .frame, !kind.isSitemap, let field = response.refresh,
                let link = LinkExtractor.refresh(field: field, url: url)
            {
                links.links.append(link)
            }
            response.body = nil
            return outcome(.answered(response, links), duration)
        } catch is CancellationError {
            return outcome(.cancelled, clock.now - start)
        } catch {
            if Task.isCancelled { return outcome(.cancelled, clock.now - start) }
            let code = (error as? URLError)?.code ?? .unknown
            return outcome(.failed(code, message: Self.describe(error)), clock.now - start)
        }
    }

    struct RobotsOutcome: Sendable {
        var robots: HostQueue.Robots
        var status: Int?
        var body = Data()
        var error: String?
        var sitemaps: [String] = []
    }

    /// Loads robots.txt, and tries twice: a single lost connection must not exclude a whole site.
    func robots(of origin: String) async -> RobotsOutcome {
        guard let url = CanonicalURL(page: origin + "/robots.txt") else {
            return RobotsOutcome(robots: .known(.allowAll))
        }
        var reason = ""
        for _ in 1...2 {
            do {
                let response = try await loader.load(url)
                if response.status < 500 {
                    let body = RobotsRules.text(response.body ?? Data(), charset: response.charset)
                    let rules = RobotsRules(status: response.status, body: [UInt8](body), agent: agent)
                    return RobotsOutcome(
                        robots: .known(rules),
                        status: response.status,
                        body: body,
                        sitemaps: rules.sitemaps
                    )
                }
                reason = "status \(response.status)"
            } catch {
                reason = Self.describe(error)
            }
            if Task.isCancelled { break }
        }
        let message = "robots.txt could not be loaded (\(reason)), so this site must not be crawled"
        return RobotsOutcome(robots: .unreachable(message), error: message)
    }

    static func describe(_ error: any Error) -> String {
        guard let error = error as? URLError else { return String(describing: error) }
        let text = error.localizedDescription
        return text.isEmpty ? "URLError \(error.code.rawValue)" : text
    }
}
