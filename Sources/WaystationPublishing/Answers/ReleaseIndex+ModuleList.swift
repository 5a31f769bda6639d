public import Foundation
public import WaystationPacks

extension ReleaseIndex {
    /// The answer of a server with many modules to a client.
    ///
    /// The answer has every published module, even those that the client does not have yet. An entry has no URLs if the
    /// module is switched off, needs a newer app, or is up to date on the client: there is nothing to fetch then. The
    /// format has no gradual rollout, so every client gets the live version. An entry has a `networkType` only if the
    /// module has a network condition.
    ///
    /// - Parameters:
    ///   - request: The client's request, with the versions that it has.
    ///   - base: The URL of the release directory.
    /// - Returns: The answer.
    public func answer(_ request: ModuleListRequest, at base: URL) -> ModuleListAnswer {
        ModuleListAnswer(
            modules.map { module in
                let client = request.modules.first { $0.module == module.module }
                return module.answer(client, appVersion: PackVersion(request.appVersion), at: base)
            }
        )
    }
}

extension ReleaseIndex.Module {
    fileprivate func answer(
        _ client: ModuleListRequest.Module?,
        appVersion: PackVersion?,
        at base: URL
    ) -> ModuleListAnswer.Module {
        var answer = ModuleListAnswer.Module(module, isActive: isActive)
        guard isActive, let release = release(live), release.version != client?.version, release.suits(appVersion)
        else {
            return answer
        }
        answer.mode = .whole
        answer.networkType = network?.networkType
        answer.packageURL = release.archive.address(at: base)
        answer.packageDigest = release.archive.md5
        if let patch = release.zipPatch(from: client?.version) {
            answer.mode = .patch
            answer.patchURL = patch.address(at: base)
            answer.patchDigest = patch.md5
        }
        return answer
    }
}

extension ReleaseIndex.Release {
    /// Whether an app of this version can use the release; true when the app's version is not known.
    func suits(_ appVersion: PackVersion?) -> Bool {
        guard let minimumAppVersion, let appVersion else { return true }
        return appVersion >= minimumAppVersion
    }

    /// The zip patch from a version, if there is one.
    func zipPatch(from version: PackVersion?) -> ReleaseIndex.File? {
        patches.first { $0.kind == .zip && $0.from == version }?.file
    }
}

extension ReleaseIndex.File {
    /// The file's URL in a release directory at `base`.
    func address(at base: URL) -> String {
        let text = base.absoluteString
        return (text.hasSuffix("/") ? text : text + "/") + path
    }
}

/// The request of a client to a server with one pack.
public struct SinglePackRequest: Sendable, Hashable {
    /// The module of the pack.
    public var module: ModuleID
    /// The version that the client has; nil when it has none.
    public var installed: PackVersion?
    /// The version of the app; nil when the client does not send it.
    public var appVersion: PackVersion?

    /// Makes a request.
    public init(_ module: ModuleID, installed: PackVersion? = nil, appVersion: PackVersion? = nil) {
        self.module = module
        self.installed = installed
        self.appVersion = appVersion
    }
}

extension ReleaseIndex {
    /// The answer of a server with one pack to a client.
    ///
    /// `status` is 3 for a module that is switched off, 2 when the client has a higher version than the live one and
    /// must go back, and 1 otherwise, as in ``WaystationPacks/SinglePackSource/standardMeanings``. `networkType` is
    /// `any`, `wifi` for an unmetered network, or the name of another condition. A client with a version that has a
    /// patch gets the patch, every other client the whole zip. The format has no gradual rollout, so every client gets
    /// the live version.
    ///
    /// - Parameters:
    ///   - request: The client's request, with the version that it has.
    ///   - base: The URL of the release directory.
    /// - Returns: The answer; nil when nothing was published for the module.
    public func answer(_ request: SinglePackRequest, at base: URL) -> SinglePackAnswer? {
        self[request.module]?.answer(request, at: base)
    }
}

extension ReleaseIndex.Module {
    fileprivate func answer(_ request: SinglePackRequest, at base: URL) -> SinglePackAnswer {
        guard isActive else { return SinglePackAnswer(status: 3) }
        var answer = SinglePackAnswer(
            minimumVersion: lowestUsableVersion,
            networkType: (network ?? .any).networkType,
            status: 1
        )
        guard let release = release(live), release.suits(request.appVersion) else { return answer }
        answer.version = release.version
        answer.packageURL = release.archive.address(at: base)
        answer.whitelist = release.baseURLs
        if let installed = request.installed, installed > release.version { answer.status = 2 }
        if let patch = release.zipPatch(from: request.installed) {
            answer.packageURL = patch.address(at: base)
            answer.isPatch = true
        }
        return answer
    }
}
