public import Foundation
import HTTPTypes
import WaystationFields
import WaystationFileSystem

/// A server with many modules: the source posts a ``ModuleListRequest``, and the server answers with
/// ``ModuleListAnswer``.
///
/// The format names no versions. The answer is the version that the server wants the module to have, so an offer counts
/// even in place of a higher version. The version itself comes from the pack's manifest; for a zip without one, it
/// comes from the zip's file name, or else from its digest.
public struct ModuleListSource: PackSource {
    /// The URL to post to.
    public let url: URL
    /// Additional header fields of the request, such as an API key; none by default.
    public var fields: [String: String] = [:]
    /// The largest answer that is read, in bytes; 4 MiB by default.
    public var maximumAnswerSize = 4 << 20

    /// The condition for each `networkType`, in lower case; ``NetworkCondition/networkTypes`` by default.
    ///
    /// A name that is not listed here becomes a condition of its own, for the app's ``NetworkProbe``; a missing one
    /// means any network.
    public var networkTypes = NetworkCondition.networkTypes

    private let fetcher: any PackFetching
    private let now: @Sendable () -> Date

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - url: The URL to post to.
    ///   - fetcher: The network.
    ///   - now: The clock.
    public init(
        _ url: URL,
        fetcher: any PackFetching = URLSessionFetcher.shared,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.url = url
        self.fetcher = fetcher
        self.now = now
    }

    /// Sends one request, and reads the answer.
    public func check(_ inquiry: UpdateInquiry) async throws -> UpdateAnswer {
        var request = FetchRequest(url, method: .post, maximumBodySize: maximumAnswerSize)
        for (name, value) in fields {
            guard let name = HTTPField.Name(name) else {
                throw PackError(.invalidArgument, "\(name.quoted()) is not a valid header field name: correct `fields`")
            }
            request.fields[name] = value
        }
        request.fields[.contentType] = "application/json"
        do {
            request.body = try JSONEncoder().encode(ModuleListRequest(inquiry))
        } catch {
            throw PackError(.invalidArgument, "the inquiry cannot be written as JSON", cause: error)
        }
        let response = try await fetcher.collect(request, now: now())
        let answer: ModuleListAnswer
        do {
            answer = try JSONDecoder().decode(ModuleListAnswer.self, from: response.body)
        } catch {
            throw PackError.badAnswer(url, error)
        }
        return read(answer, for: inquiry, from: response.url, retryAfter: response.retryAfter)
    }

    private func read(
        _ answer: ModuleListAnswer,
        for inquiry: UpdateInquiry,
        from base: URL,
        retryAfter: Duration?
    ) -> UpdateAnswer {
        var result = UpdateAnswer(offers: [], retryAfter: retryAfter)
        result.problems = answer.unreadable.map {
            PackError(.badAnswer, "\(url.shown) answered with an entry that is not in the expected format: \($0)")
        }
        if answer.leftOut > 0 {
            let problem =
                "\(url.shown) answered with \(answer.leftOut) more entries than the \(ModuleListAnswer.maximumEntries) "
                + "that are read: let the server send fewer modules"
            result.problems.append(PackError(.badAnswer, problem))
        }
        var seen: Set<ModuleID> = []
        for module in answer.modules {
            guard seen.insert(module.module).inserted else {
                let problem = "\(url.shown) answered with two entries for module \(module.module); the first one counts"
                result.problems.append(PackError(.badAnswer, problem))
                continue
            }
            do {
                let installed = inquiry.modules.first { $0.id == module.module }?.version
                result.offers.append(try offer(module, installed: installed, from: base))
            } catch {
                result.problems.append(error)
            }
        }
        return result
    }

    /// The offer that an entry makes to a client that has `installed`.
    func offer(
        _ module: ModuleListAnswer.Module,
        installed: PackVersion?,
        from base: URL
    ) throws(PackError) -> ModuleOffer {
        var offer = ModuleOffer(module.module)
        offer.isActive = module.isActive
        offer.isExact = true
        offer.whitelist = module.whitelist
        offer.network = NetworkCondition(networkType: module.networkType, in: networkTypes)
        if let text = module.packageURL {
            guard let url = URL.fetchable(text, relativeTo: base) else {
                throw PackError.badAddress(text, in: "packageUrl of \(module.module)")
            }
            offer.archive = Artifact(url: url, digest: module.packageDigest)
        }
        if module.mode != .whole, let text = module.patchURL {
            guard let url = URL.fetchable(text, relativeTo: base) else {
                throw PackError.badAddress(text, in: "patchUrl of \(module.module)")
            }
            offer.patches = [
                PatchOffer(
                    .zip,
                    from: installed,
                    result: module.packageDigest,
                    artifact: Artifact(url: url, digest: module.patchDigest)
                )
            ]
        }
        return offer
    }
}

extension PackSource where Self == ModuleListSource {
    /// A server with many modules.
    public static func modules(at url: URL) -> ModuleListSource { ModuleListSource(url) }
}
