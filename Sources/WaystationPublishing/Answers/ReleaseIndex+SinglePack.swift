public import Foundation
public import WaystationPacks

/// What a client asks a server of one pack.
public struct SinglePackRequest: Sendable, Hashable {
    /// The module that the pack is of.
    public var module: ModuleID
    /// The version that the client has; nil when it has none.
    public var installed: PackVersion?
    /// The version of the app; nil when it does not tell.
    public var appVersion: PackVersion?

    /// A request.
    public init(_ module: ModuleID, installed: PackVersion? = nil, appVersion: PackVersion? = nil) {
        self.module = module
        self.installed = installed
        self.appVersion = appVersion
    }
}

extension ReleaseIndex {
    /// What a server of one pack answers to a client.
    ///
    /// `status` is 3 for a module that is switched off, 2 when the client has a higher version than the live one and is
    /// to go back, else 1, as in ``WaystationPacks/SinglePackSource/standardMeanings``. `networkType` is `any`, `wifi` for
    /// an unmetered network, or the name of another condition. A client within the kept patches gets the patch, every other
    /// client the whole zip. The format knows no gradual rollout: every client gets the live version.
    ///
    /// - Parameters:
    ///   - request: What the client has.
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
