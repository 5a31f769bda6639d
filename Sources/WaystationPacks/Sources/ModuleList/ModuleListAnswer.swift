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
