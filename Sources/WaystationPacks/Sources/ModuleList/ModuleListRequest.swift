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
        /// `moduleVer`; nil, written as an empty string, when there is none.
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
