public import Foundation
public import WaystationPacks

extension ReleaseIndex {
    /// What a server of many modules answers to a client.
    ///
    /// Every module that is published is in the answer, also those that the client has not got yet. One that is switched
    /// off, that needs a newer app, or that the client has already comes without addresses: there is nothing to fetch.
    /// The format knows no gradual rollout: everybody gets the live version. `networkType` is in an entry only where the
    /// module has a network condition.
    ///
    /// - Parameters:
    ///   - request: What the client has.
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
    /// Whether an app of this version can use the release; one that does not tell is taken at its word.
    func suits(_ appVersion: PackVersion?) -> Bool {
        guard let minimumAppVersion, let appVersion else { return true }
        return appVersion >= minimumAppVersion
    }

    /// The zip patch from a version, when there is one.
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
