/// A source of updates, which can say what packs there are.
///
/// The library has sources for the format for one pack (``SinglePackSource``), for the format for many modules
/// (``ModuleListSource``) and for a signed static catalogue (``CatalogueSource``).
public protocol PackSource: Sendable {
    /// Asks the source once.
    ///
    /// May be called on any thread, and by several tasks at once. Cancelling the task stops the traffic.
    ///
    /// - Throws: ``PackError``.
    func check(_ inquiry: UpdateInquiry) async throws -> UpdateAnswer

    /// Whether the source may offer patches from zip to zip, so that each zip must be kept beside its unpacked files;
    /// true by default.
    var offersZipPatches: Bool { get }
}

extension PackSource {
    /// True.
    public var offersZipPatches: Bool { true }
}

/// The app that asks for updates.
public struct AppIdentity: Sendable, Hashable {
    /// The app's name on the server.
    public var code: String
    /// The app's version.
    public var version: PackVersion
    /// The platform that the app runs on; `linux` by default.
    public var platform: String

    /// Makes an identity.
    public init(code: String, version: PackVersion, platform: String = "linux") {
        self.code = code
        self.version = version
        self.platform = platform
    }
}

/// The data about a client that a source is asked with.
public struct UpdateInquiry: Sendable, Hashable {
    /// The client's state of a module.
    public struct Module: Sendable, Hashable {
        /// The module.
        public var id: ModuleID
        /// The version in use; nil if the module has no version yet.
        public var version: PackVersion?
        /// Whether the module's pack is switched on.
        public var isActive: Bool

        /// Makes an entry; the module is switched on by default.
        public init(_ id: ModuleID, version: PackVersion? = nil, isActive: Bool = true) {
            self.id = id
            self.version = version
            self.isActive = isActive
        }
    }

    /// The app that asks.
    public var app: AppIdentity
    /// The modules that are installed or wanted.
    public var modules: [Module]
    /// An identifier of this installation that never changes; it decides whether a gradual rollout includes it.
    ///
    /// A random UUID made at the first start will do; the sources of this library do not send it.
    public var installID: String
    /// The state after the last accepted catalogue; nil before the first.
    public var catalogueState: CatalogueState?

    /// Makes an inquiry.
    public init(
        app: AppIdentity,
        modules: [Module],
        installID: String,
        catalogueState: CatalogueState? = nil
    ) {
        self.app = app
        self.modules = modules
        self.installID = installID
        self.catalogueState = catalogueState
    }

    /// The inquiry without the installed version of a module.
    ///
    /// A server that offers only a patch to clients with a recent version then offers the whole pack. Use it when the
    /// patch did not work.
    public func forgettingVersion(of module: ModuleID) -> UpdateInquiry {
        var inquiry = self
        inquiry.modules = modules.map { $0.id == module ? Module(module, isActive: $0.isActive) : $0 }
        return inquiry
    }
}

/// The answer of a source.
public struct UpdateAnswer: Sendable {
    /// The offers, at most one for each module; a module without an offer is not changed.
    public var offers: [ModuleOffer]
    /// How long the server asked the client to wait, if it did.
    public var retryAfter: Duration?
    /// The state to store before following any offer, and to pass with the next inquiry; nil when the source needs
    /// none.
    public var catalogueState: CatalogueState?
    /// Parts of the answer that were left out since they are not valid; the other offers count.
    public var problems: [PackError]

    /// Makes an answer.
    public init(
        offers: [ModuleOffer],
        retryAfter: Duration? = nil,
        catalogueState: CatalogueState? = nil,
        problems: [PackError] = []
    ) {
        self.offers = offers
        self.retryAfter = retryAfter
        self.catalogueState = catalogueState
        self.problems = problems
    }
}

/// `networkType`, the name of a network condition in the two older formats.
extension NetworkCondition {
    /// The condition for each `networkType`, in lower case.
    ///
    /// `all`, `any` and `0` mean any network. `wifi`, `wlan`, `unmetered` and `1` mean an unmetered one, since the
    /// servers that write these want to avoid cellular traffic. `wired`, `wireless` and `cellular` mean themselves.
    public static let networkTypes: [String: NetworkCondition] = [
        "all": .any, "any": .any, "0": .any, "wifi": .unmetered, "wlan": .unmetered, "unmetered": .unmetered,
        "1": .unmetered, "wired": .wired, "wireless": .wireless, "cellular": .cellular,
    ]

    /// The condition that a `networkType` names.
    init(networkType: String?, in names: [String: NetworkCondition]) {
        self = networkType.map { names[$0.lowercased()] ?? NetworkCondition($0) } ?? .any
    }

    /// The `networkType` that clients of the older formats understand best.
    package var networkType: String { self == .unmetered ? "wifi" : description }
}
