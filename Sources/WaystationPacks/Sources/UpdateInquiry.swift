/// The data about a client that a source is asked with.
public struct UpdateInquiry: Sendable, Hashable {
    /// The client's state of a module.
    public struct Module: Sendable, Hashable {
        /// The module.
        public var id: ModuleID
        /// The version in use; nil when there is none.
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
