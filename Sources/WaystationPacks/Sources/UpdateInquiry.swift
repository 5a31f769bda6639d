/// What a client tells a source about itself.
public struct UpdateInquiry: Sendable, Hashable {
    /// A module as the client has it.
    public struct Module: Sendable, Hashable {
        /// The module.
        public var id: ModuleID
        /// The version in use; nil when there is none.
        public var version: PackVersion?
        /// Whether the module's pack is switched on.
        public var isActive: Bool

        /// A module, switched on unless told otherwise.
        public init(_ id: ModuleID, version: PackVersion? = nil, isActive: Bool = true) {
            self.id = id
            self.version = version
            self.isActive = isActive
        }
    }

    /// The app.
    public var app: AppIdentity
    /// The modules that are installed or wanted.
    public var modules: [Module]
    /// A name of this installation that stays the same for its life; it decides over a gradual rollout.
    ///
    /// A random UUID made at the first start will do; the sources here send it nowhere.
    public var installID: String
    /// The state that the last accepted catalogue left behind; nil before the first.
    public var catalogueState: CatalogueState?

    /// An inquiry.
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

    /// The inquiry of a client that has nothing of a module.
    ///
    /// A server that offers only a patch to those who have a version close to the newest then offers the whole pack: what
    /// to ask for when the patch did not work.
    public func forgettingVersion(of module: ModuleID) -> UpdateInquiry {
        var inquiry = self
        inquiry.modules = modules.map { $0.id == module ? Module(module, isActive: $0.isActive) : $0 }
        return inquiry
    }
}
