extension Catalogue {
    /// Checks that the catalogue does not contradict itself.
    ///
    /// - Throws: ``PackError`` with ``PackError/Code/badAnswer``, which names the place.
    public func validate() throws(PackError) {
        try require(issued < expires, "the catalogue expires before it is issued")
        var seen: Set<ModuleID> = []
        for module in modules {
            try require(seen.insert(module.module).inserted, "module \(module.module) is listed twice")
            try module.validate()
        }
    }
}

extension Catalogue.Module {
    fileprivate func validate() throws(PackError) {
        var versions: Set<PackVersion> = []
        for release in releases {
            let name = "\(module) \(release.version)"
            try require(versions.insert(release.version).inserted, "\(name) is listed twice")
            try require(release.manifest.algorithm == .sha256, "the manifest of \(name) has no SHA-256")
            try require((release.installedSize ?? 0) >= 0, "the installed size of \(name) is negative")
            try release.archive.validate("the archive of \(name)")
            for patch in release.patches ?? [] {
                let name = "the patch from \(patch.from) to \(name)"
                try require(patch.from != release.version, "\(name) leads to the version that it starts from")
                try require(
                    patch.base.algorithm == .sha256 && patch.result.algorithm == .sha256,
                    "\(name) has no SHA-256 of its base or its result"
                )
                try patch.artifact.validate(name)
            }
        }
        if let live {
            try require(versions.contains(live), "the live version \(live) of \(module) is not among its releases")
        }
        if let rollout {
            try require(
                versions.contains(rollout.version),
                "the rollout version \(rollout.version) of \(module) is not among its releases"
            )
            try require((0...100).contains(rollout.percentage), "the rollout of \(module) is not 0 to 100 per cent")
        }
    }
}

extension Catalogue.File {
    fileprivate func validate(_ name: String) throws(PackError) {
        try require(size >= 0, "the size of \(name) is negative")
        try require(digest.algorithm == .sha256, "\(name) has no SHA-256")
    }
}

private func require(_ condition: Bool, _ contradiction: String) throws(PackError) {
    guard condition else {
        throw PackError(.badAnswer, "the catalogue contradicts itself: \(contradiction); publish a corrected one")
    }
}
