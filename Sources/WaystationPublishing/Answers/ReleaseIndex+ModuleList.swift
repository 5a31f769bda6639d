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
