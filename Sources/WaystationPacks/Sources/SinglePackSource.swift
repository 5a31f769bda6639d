public import Foundation

/// A server with one pack for the whole app, which answers with ``SinglePackAnswer``.
///
/// The format defines the server's answer; the request differs between servers. By default it is a GET with the query
/// items of ``queryItems(for:of:)``; set ``makeRequest`` to change it.
public struct SinglePackSource: PackSource {
    /// The meaning of a `status`.
    public enum Meaning: Sendable, Hashable, CaseIterable {
        /// The pack is switched off: pages load online.
        case off
        /// The version is offered to clients that have a lower one.
        case update
        /// The version is to be used even in place of a higher one.
        case rollback
    }

    /// The URL to ask.
    public let url: URL
    /// The pack's module name in this app.
    public let module: ModuleID
    /// The meaning of each number in `status`; ``standardMeanings`` by default.
    ///
    /// A status that is missing or not listed here means update. So 0, which many servers write for a number that was
    /// never set, does not switch the pack off unless the app says so: `meanings[0] = .off`.
    public var meanings = Self.standardMeanings
    /// The condition for each `networkType`, in lower case; ``NetworkCondition/networkTypes`` by default.
    ///
    /// A name that is not listed here becomes a condition of its own, for the app's ``NetworkProbe``; a missing one
    /// means any network.
    public var networkTypes = NetworkCondition.networkTypes
    /// Makes the request; by default a GET of ``url`` with ``queryItems(for:of:)`` that accepts an answer of up to 1
    /// MiB.
    public var makeRequest: @Sendable (UpdateInquiry) -> FetchRequest

    /// 1 means update, 2 rollback and 3 off, as this project's release platform writes them.
    public static let standardMeanings: [Int: Meaning] = [1: .update, 2: .rollback, 3: .off]

    private let fetcher: any PackFetching
    private let now: @Sendable () -> Date

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - url: The URL to ask.
    ///   - module: The pack's module name in this app; any name will do, for example `app`.
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

    /// `appCode`, `appVer` and `platform`, and also `packageVersion` when the module is installed.
    public static func queryItems(for inquiry: UpdateInquiry, of module: ModuleID) -> [URLQueryItem] {
        let installed = inquiry.modules.first { $0.id == module }?.version
        return [
            URLQueryItem(name: "appCode", value: inquiry.app.code),
            URLQueryItem(name: "appVer", value: inquiry.app.version.description),
            URLQueryItem(name: "platform", value: inquiry.app.platform),
        ] + (installed.map { [URLQueryItem(name: "packageVersion", value: $0.description)] } ?? [])
    }

    /// Sends one request, and reads the answer.
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

    /// The offer that an answer makes to a client that has `installed`.
    func offer(_ answer: SinglePackAnswer, installed: PackVersion?, from base: URL) throws -> ModuleOffer {
        var offer = ModuleOffer(module, version: answer.version)
        switch answer.status.flatMap({ meanings[$0] }) ?? .update {
        case .off: offer.isActive = false
        case .update: break
        case .rollback: offer.isExact = true
        }
        offer.minimumVersion = answer.minimumVersion
        offer.network = NetworkCondition(networkType: answer.networkType, in: networkTypes)
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
}

extension PackSource where Self == SinglePackSource {
    /// A server with one pack for the whole app.
    ///
    /// - Parameters:
    ///   - url: The URL to ask.
    ///   - module: The pack's module name in this app; any name will do, for example `app`.
    ///   - meanings: The meaning of each number in `status`; see ``SinglePackSource/meanings``.
    ///   - networkTypes: The condition for each `networkType`; see ``SinglePackSource/networkTypes``.
    /// - Returns: The source.
    public static func singlePack(
        at url: URL,
        module: ModuleID,
        meanings: [Int: SinglePackSource.Meaning] = SinglePackSource.standardMeanings,
        networkTypes: [String: NetworkCondition] = NetworkCondition.networkTypes
    ) -> SinglePackSource {
        var source = SinglePackSource(url, module: module)
        source.meanings = meanings
        source.networkTypes = networkTypes
        return source
    }
}

/// The answer of a server with one pack, as JSON.
///
/// ```json
/// {"updatePackageVersion": "1.10.0", "updatePackageUrl": "https://cdn.example/app-1.10.0.zip", "miniVersion": "1.8",
///  "networkType": "wifi", "status": 1, "isPatch": false, "whitelist": ["https://shop.example/app/"]}
/// ```
///
/// Every member may be missing, `null` or empty. Versions and `networkType` may be strings or numbers (a version as a
/// number loses its trailing zeros: 1.10 is then 1.1), and `status` a number or a string of one. `isPatch` may be
/// `true`, `false`, 0, 1 or a string of these, and `whitelist` an array of strings, or one string with commas or line
/// ends between the URLs. This library writes strings, a number for `status`, a boolean and an array.
public struct SinglePackAnswer: Sendable, Hashable, Codable {
    /// `updatePackageVersion`: the offered version; nil if the server offers no version.
    public var version: PackVersion?
    /// `updatePackageUrl`: the URL of the zip or the patch, absolute or relative to the server's own URL.
    public var packageURL: String?
    /// `miniVersion`: the lowest version that may still be used.
    public var minimumVersion: PackVersion?
    /// `networkType`: the kind of network to download on.
    public var networkType: String?
    /// `status`: the action to take; see ``SinglePackSource/meanings``.
    public var status: Int?
    /// `isPatch`: whether the URL is that of a patch for the client's own zip; false by default.
    public var isPatch: Bool
    /// `whitelist`: the URLs to intercept; nil when the server did not say.
    public var whitelist: [String]?

    /// Makes an answer.
    public init(
        version: PackVersion? = nil,
        packageURL: String? = nil,
        minimumVersion: PackVersion? = nil,
        networkType: String? = nil,
        status: Int? = nil,
        isPatch: Bool = false,
        whitelist: [String]? = nil
    ) {
        self.version = version
        self.packageURL = packageURL
        self.minimumVersion = minimumVersion
        self.networkType = networkType
        self.status = status
        self.isPatch = isPatch
        self.whitelist = whitelist
    }

    private enum CodingKeys: String, CodingKey {
        case version = "updatePackageVersion"
        case packageURL = "updatePackageUrl"
        case minimumVersion = "miniVersion"
        case networkType, status, isPatch, whitelist
    }

    /// Reads every accepted form.
    ///
    /// - Throws: `DecodingError` for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.version(.version)
        packageURL = try container.text(.packageURL)
        minimumVersion = try container.version(.minimumVersion)
        networkType = try container.text(.networkType)
        status = try container.integer(.status)
        isPatch = try container.flag(.isPatch) ?? false
        whitelist = try container.list(.whitelist)
    }
}
