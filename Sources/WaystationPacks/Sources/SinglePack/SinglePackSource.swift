public import Foundation

/// A server that knows one pack for the whole app, and answers with ``SinglePackAnswer``.
///
/// The format says what the server answers; how it is asked differs between servers. By default that is a GET with the
/// query items of ``queryItems(for:of:)``; ``makeRequest`` changes it.
public struct SinglePackSource: PackSource {
    /// What a `status` means.
    public enum Meaning: Sendable, Hashable, CaseIterable {
        /// The pack is switched off: pages load online.
        case off
        /// The version is offered to those who have a lower one.
        case update
        /// The version is to be used also in place of a higher one.
        case rollback
    }

    /// The address that is asked.
    public let url: URL
    /// The name that the pack has in this app.
    public let module: ModuleID
    /// What each number in `status` means.
    ///
    /// By default 0 is off, 1 update and 2 rollback; a missing one means update.
    public var meanings: [Int: Meaning] = [0: .off, 1: .update, 2: .rollback]
    /// Which condition each `networkType` names, in lower case.
    ///
    /// By default `all`, `any` and `0` are any network, and `wifi`, `unmetered` and `1` an unmetered one. What is not
    /// here becomes a condition of its own, for the app's ``NetworkProbe``; a missing one means any network.
    public var networkTypes: [String: NetworkCondition] = [
        "all": .any, "any": .any, "0": .any, "wifi": .unmetered, "unmetered": .unmetered, "1": .unmetered,
    ]
    /// Makes the request; by default a GET of ``url`` with ``queryItems(for:of:)`` that takes an answer of up to 1 MiB.
    public var makeRequest: @Sendable (UpdateInquiry) -> FetchRequest

    private let fetcher: any PackFetching
    private let now: @Sendable () -> Date

    /// A source.
    ///
    /// - Parameters:
    ///   - url: The address to ask.
    ///   - module: The name that the pack has in this app; `app` is as good as any.
    ///   - fetcher: The network.
    ///   - now: The clock.
    public init(
        _ url: URL,
        module: ModuleID,
        fetcher: any PackFetching = URLSessionFetcher.shared,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.url = url
        self.module = module
        self.fetcher = fetcher
        self.now = now
        makeRequest = { inquiry in
            FetchRequest(
                url.appending(queryItems: Self.queryItems(for: inquiry, of: module)),
                maximumBodySize: 1 << 20
            )
        }
    }

    /// `appCode`, `appVer`, `platform`, and `packageVersion` when the module is installed.
    public static func queryItems(for inquiry: UpdateInquiry, of module: ModuleID) -> [URLQueryItem] {
        let installed = inquiry.modules.first { $0.id == module }?.version
        return [
            URLQueryItem(name: "appCode", value: inquiry.app.code),
            URLQueryItem(name: "appVer", value: inquiry.app.version.description),
            URLQueryItem(name: "platform", value: inquiry.app.platform),
        ] + (installed.map { [URLQueryItem(name: "packageVersion", value: $0.description)] } ?? [])
    }

    /// Asks, and reads the answer.
    public func check(_ inquiry: UpdateInquiry) async throws -> UpdateAnswer {
        let response = try await fetcher.collect(makeRequest(inquiry), now: now())
        let answer: SinglePackAnswer
        do {
            answer = try JSONDecoder().decode(SinglePackAnswer.self, from: response.body)
        } catch {
            throw PackError.badAnswer(url, error)
        }
        let installed = inquiry.modules.first { $0.id == module }?.version
        return UpdateAnswer(
            offers: [try offer(answer, installed: installed, from: response.url)],
            retryAfter: response.retryAfter
        )
    }

    /// What an answer offers to a client that has `installed`.
    func offer(_ answer: SinglePackAnswer, installed: PackVersion?, from base: URL) throws -> ModuleOffer {
        var offer = ModuleOffer(module, version: answer.version)
        switch try meaning(of: answer.status) {
        case .off: offer.isActive = false
        case .update: break
        case .rollback: offer.isExact = true
        }
        offer.minimumVersion = answer.minimumVersion
        offer.network = answer.networkType.map { networkTypes[$0.lowercased()] ?? NetworkCondition($0) } ?? .any
        offer.whitelist = answer.whitelist
        guard answer.version != nil, let text = answer.packageURL else { return offer }
        guard let address = URL.fetchable(text, relativeTo: base) else {
            throw PackError.badAddress(text, in: "updatePackageUrl")
        }
        if answer.isPatch {
            offer.patches = [PatchOffer(.zip, from: installed, artifact: Artifact(url: address))]
        } else {
            offer.archive = Artifact(url: address)
        }
        return offer
    }

    private func meaning(of status: Int?) throws -> Meaning {
        guard let status else { return .update }
        guard let meaning = meanings[status] else {
            let known = meanings.keys.sorted().map(String.init).joined(separator: ", ")
            throw PackError(
                .badAnswer,
                "status \(status) has no meaning here; known are \(known): correct the server, or add it to `meanings`"
            )
        }
        return meaning
    }
}

extension PackSource where Self == SinglePackSource {
    /// A server that knows one pack for the whole app.
    public static func singlePack(at url: URL, module: ModuleID) -> SinglePackSource {
        SinglePackSource(url, module: module)
    }
}
