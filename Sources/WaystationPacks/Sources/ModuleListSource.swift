public import Foundation
import HTTPTypes
import WaystationHTTP
import WaystationStorage

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

/// The request to a server with many modules, sent by POST as JSON.
///
/// ```json
/// {"data": {"appCode": "shop", "appVer": "2.1", "platform": "linux",
///           "h5vers": [{"moduleId": "cart", "moduleVer": "1.4", "isActive": true}]}}
/// ```
///
/// A server accepts `true`, `false`, 0, 1 and strings of these for `isActive`, which is true when missing, and strings
/// and numbers for versions. An empty or missing `moduleVer` means that the module is not installed.
public struct ModuleListRequest: Sendable, Hashable, Codable {
    /// The client's state of a module.
    public struct Module: Sendable, Hashable, Codable {
        /// `moduleId`.
        public var module: ModuleID
        /// `moduleVer`; nil, which is written as an empty string, if the module has no version yet.
        public var version: PackVersion?
        /// `isActive`.
        public var isActive: Bool

        /// Makes an entry.
        public init(_ module: ModuleID, version: PackVersion?, isActive: Bool) {
            self.module = module
            self.version = version
            self.isActive = isActive
        }

        private enum CodingKeys: String, CodingKey {
            case module = "moduleId"
            case version = "moduleVer"
            case isActive
        }

        /// Reads every accepted form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            module = try container.module(.module)
            version = try container.version(.version)
            isActive = try container.flag(.isActive) ?? true
        }

        /// Writes the form above.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(module, forKey: .module)
            try container.encode(version?.description ?? "", forKey: .version)
            try container.encode(isActive, forKey: .isActive)
        }
    }

    /// `appCode`.
    public var appCode: String
    /// `appVer`, in the app's own notation.
    public var appVersion: String
    /// `platform`.
    public var platform: String
    /// `h5vers`.
    public var modules: [Module]

    /// Makes a request.
    public init(appCode: String, appVersion: String, platform: String, modules: [Module]) {
        self.appCode = appCode
        self.appVersion = appVersion
        self.platform = platform
        self.modules = modules
    }

    /// Makes the request for an inquiry.
    public init(_ inquiry: UpdateInquiry) {
        appCode = inquiry.app.code
        appVersion = inquiry.app.version.description
        platform = inquiry.app.platform
        modules = inquiry.modules.map { Module($0.id, version: $0.version, isActive: $0.isActive) }
    }

    private enum OuterKeys: String, CodingKey { case data }
    private enum CodingKeys: String, CodingKey {
        case appCode
        case appVersion = "appVer"
        case platform
        case modules = "h5vers"
    }

    /// Reads every accepted form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: OuterKeys.self)
            .nestedContainer(keyedBy: CodingKeys.self, forKey: .data)
        appCode = try container.text(.appCode) ?? ""
        appVersion = try container.text(.appVersion) ?? ""
        platform = try container.text(.platform) ?? ""
        modules = try container.decodeIfPresent([Module].self, forKey: .modules) ?? []
    }

    /// Writes the form above.
    public func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: OuterKeys.self)
        var container = outer.nestedContainer(keyedBy: CodingKeys.self, forKey: .data)
        try container.encode(appCode, forKey: .appCode)
        try container.encode(appVersion, forKey: .appVersion)
        try container.encode(platform, forKey: .platform)
        try container.encode(modules, forKey: .modules)
    }
}

/// The answer of a server with many modules, as JSON.
///
/// ```json
/// {"resultData": [{"moduleId": "cart", "packageUrl": "https://cdn.example/cart.zip", "packageMD5": "9e10…",
///                  "patchUrl": "https://cdn.example/cart.patch", "patchMD5": "1fb0…", "mode": 2, "isActive": true}]}
/// ```
///
/// Every member but `moduleId` may be missing, `null` or empty, and `resultData` too. `mode` may be a number or a
/// string of one. `isActive` may be `true`, `false`, 0, 1 or a string of these; it is true when missing. Digests may be
/// 32 hexadecimal digits, or the text form of ``PackDigest``. An entry that cannot be read does not affect the others:
/// see ``unreadable``. Clients read the first 1,000 entries and count the others: see ``leftOut``.
///
/// An entry may also have `whitelist` and `networkType`, with the meaning that they have in ``SinglePackAnswer``.
/// Servers that know only the members above leave them out, and clients that know only those ignore them.
public struct ModuleListAnswer: Sendable, Codable {
    /// The entry of one module.
    public struct Module: Sendable, Hashable, Codable {
        /// The artifact to fetch.
        public enum Mode: Int, Sendable, Hashable, Codable, CaseIterable {
            /// The whole pack.
            case whole = 1
            /// The patch against the version that the client has.
            case patch = 2
        }

        /// `moduleId`.
        public var module: ModuleID
        /// `packageUrl`: the whole pack, absolute or relative to the server's own URL.
        public var packageURL: String?
        /// `packageMD5`.
        public var packageDigest: PackDigest?
        /// `patchUrl`.
        public var patchURL: String?
        /// `patchMD5`.
        public var patchDigest: PackDigest?
        /// `mode`; nil when the server does not say: then the patch if there is one, else the whole pack.
        public var mode: Mode?
        /// `isActive`: false switches the module's pack off.
        public var isActive: Bool
        /// `whitelist`: the URLs to intercept; nil when the server did not say.
        public var whitelist: [String]?
        /// `networkType`: the kind of network to download on; nil means any.
        public var networkType: String?

        /// Makes an entry that offers nothing yet.
        public init(_ module: ModuleID, mode: Mode? = nil, isActive: Bool = true) {
            self.module = module
            self.mode = mode
            self.isActive = isActive
        }

        private enum CodingKeys: String, CodingKey {
            case module = "moduleId"
            case packageURL = "packageUrl"
            case packageDigest = "packageMD5"
            case patchURL = "patchUrl"
            case patchDigest = "patchMD5"
            case mode, isActive, whitelist, networkType
        }

        /// Reads every accepted form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            module = try container.module(.module)
            packageURL = try container.text(.packageURL)
            packageDigest = try container.digest(.packageDigest)
            patchURL = try container.text(.patchURL)
            patchDigest = try container.digest(.patchDigest)
            mode = try container.integer(.mode).map { number in
                guard let mode = Mode(rawValue: number) else {
                    throw DecodingError.dataCorruptedError(
                        forKey: .mode,
                        in: container,
                        debugDescription: "mode \(number) is unknown: use 1 for the whole pack or 2 for the patch"
                    )
                }
                return mode
            }
            isActive = try container.flag(.isActive) ?? true
            whitelist = try container.list(.whitelist)
            networkType = try container.text(.networkType)
        }

        /// Writes the form above: MD5 digests as bare digits, missing texts as empty ones, and `whitelist` and
        /// `networkType` only if they are set.
        public func encode(to encoder: any Encoder) throws {
            func text(_ digest: PackDigest?) -> String {
                digest.map { $0.algorithm == .md5 ? $0.hex : $0.description } ?? ""
            }
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(module, forKey: .module)
            try container.encode(packageURL ?? "", forKey: .packageURL)
            try container.encode(text(packageDigest), forKey: .packageDigest)
            try container.encode(patchURL ?? "", forKey: .patchURL)
            try container.encode(text(patchDigest), forKey: .patchDigest)
            try container.encodeIfPresent(mode, forKey: .mode)
            try container.encode(isActive, forKey: .isActive)
            try container.encodeIfPresent(whitelist, forKey: .whitelist)
            try container.encodeIfPresent(networkType, forKey: .networkType)
        }
    }

    /// `resultData`.
    public var modules: [Module]
    /// The reasons why entries were left out, each with its place in the answer.
    public var unreadable: [String]
    /// The number of entries after the first 1,000, which were not read.
    public var leftOut = 0

    /// The number of entries that are read, so that an answer cannot fill the memory with errors.
    static let maximumEntries = 1_000

    /// Makes an answer.
    public init(_ modules: [Module]) {
        self.modules = modules
        unreadable = []
    }

    private enum CodingKeys: String, CodingKey { case modules = "resultData" }

    private struct Entry: Decodable {
        let result: Result<Module, any Error>

        init(from decoder: any Decoder) { result = Result { try Module(from: decoder) } }
    }

    /// Reads every accepted form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        modules = []
        unreadable = []
        guard container.contains(.modules), try !container.decodeNil(forKey: .modules) else { return }
        var entries = try container.nestedUnkeyedContainer(forKey: .modules)
        while !entries.isAtEnd {
            guard entries.currentIndex < Self.maximumEntries else {
                leftOut = (entries.count ?? .max) - Self.maximumEntries
                return
            }
            switch try entries.decode(Entry.self).result {
            case .success(let module): modules.append(module)
            case .failure(let error): unreadable.append(error.place)
            }
        }
    }
}
