import Dispatch
import HTTPTypes
package import WaystationFoundation
package import WaystationHTTP
package import WaystationStorage

/// The installed packs as rules see them: `PackLibrary` of the product `WaystationPacks`.
package protocol InstalledPacks: Sendable {
    /// Finds the file for a URL, without reading the disk.
    func file(for url: CanonicalURL) -> InstalledFile?
    /// The present problems, as the events that reported them.
    var problems: [any SourceEvent] { get }
    /// Adds a listener that is called for every later event until `owner` is released.
    ///
    /// It also gets the name of the module whose active version has changed with the event.
    func listen(
        for owner: any AnyObject & Sendable,
        _ listener: @escaping @Sendable (_ event: any SourceEvent, _ changed: String?) -> Void
    )
}

/// A file of an installed pack.
package struct InstalledFile: Sendable {
    /// The files of the pack, with their expected digests.
    package let directory: OfflineDirectory
    /// The path to request from the directory, percent-encoded.
    package let path: String
    /// Whether the URL is that of a base or a folder without its slash, and must be answered with a redirect.
    package let lacksSlash: Bool
    /// The name of the module.
    package let module: String
    /// The release date of the version, if its manifest has one.
    package let released: Date?
    /// The version's folder; its name is never used again for another version.
    package let folder: String
    /// Reports that the file was not served because it differs from what was installed.
    package let reportDamage: @Sendable (_ detail: String) -> Void

    package init(
        directory: OfflineDirectory,
        path: String,
        lacksSlash: Bool,
        module: String,
        released: Date?,
        folder: String,
        reportDamage: @escaping @Sendable (_ detail: String) -> Void
    ) {
        self.directory = directory
        self.path = path
        self.lacksSlash = lacksSlash
        self.module = module
        self.released = released
        self.folder = folder
        self.reportDamage = reportDamage
    }
}

/// The installed packs.
struct PackSource: AnswerSource {
    let packs: any InstalledPacks
    let name = "pack"

    func answer(to request: SourceRequest) -> SourceAnswer {
        guard let found = packs.file(for: request.canonical.url) else { return .declined }
        return SourceAnswer(request.verdict(on: OfflineFile(found)))
    }
}

extension OfflineFile {
    /// The file of a pack.
    ///
    /// A file that differs from the installed one is not served: the damage is reported to the library, and the request
    /// continues with the next source.
    fileprivate init(_ found: InstalledFile) {
        self.init(directory: found.directory, path: found.path, source: .pack)
        onDamage = found.reportDamage
        lacksSlash = found.lacksSlash
    }
}

/// The installed packs, and the newer responses that are stored over their files.
struct OverlaidPackSource: AnswerSource {
    let packs: any InstalledPacks
    let strategy: CacheStrategy
    let name = "pack"

    func answer(to request: SourceRequest) -> SourceAnswer {
        let strategy = request.strategy ?? strategy
        guard let fetches = request.environment.fetches, let found = packs.file(for: request.canonical.url),
            ["GET", "HEAD"].contains(request.method),
            let presented = request.environment.cacheRequest(request.request, request.canonical)
        else { return .declined }
        // The pack alone redirects to a folder, and answers requests with a range or conditions if the strategy does not
        // handle them itself.
        guard !found.lacksSlash, strategy.obeysHTTP || presented.isUnconditional else {
            return SourceAnswer(request.verdict(on: OfflineFile(found)))
        }
        return SourceAnswer(
            lookUp(
                found,
                presented.within(Overlay.partition(of: found.module, in: found.folder)),
                by: strategy,
                for: request,
                fetches
            )
        )
    }

    private func lookUp(
        _ found: InstalledFile,
        _ presented: CacheRequest,
        by strategy: CacheStrategy,
        for request: SourceRequest,
        _ fetches: Fetches
    ) -> Verdict {
        let cache = fetches.cache
        let ends = fetches.ends(of: presented.key)
        return .lookUp(
            LookUp { completion in
                cache.store.lookup(presented.key, opening: presented.mayBeAnswered) { responses in
                    // The pack's files must not be read on the store's queue.
                    DispatchQueue.global().async {
                        let packed = request.packedVariant(found)
                        guard packed != nil || !responses.isEmpty else { return completion(.declined) }
                        let variants = StoredVariants(cache.usable(responses), over: packed)
                        completion(request.verdict(strategy, presented, variants, in: cache, lookedUp: ends))
                    }
                }
                return {}
            }
        )
    }
}

extension SourceRequest {
    /// The file of a pack as a stored response; nil if it cannot be read.
    fileprivate func packedVariant(_ found: InstalledFile) -> PackedVariant? {
        let answer: FileAnswer
        if let resident = found.directory.resident(path: found.path) {
            answer = resident
        } else {
            switch found.directory.answer(FileRequest(method: .get, path: found.path)) {
            case .answer(let file) where file.status == .ok: answer = file
            case .answer(let file):
                found.reportDamage("\(found.path) is answered with \(file.status)")
                return nil
            case .notFound:
                found.reportDamage("\(found.path) is missing")
                return nil
            case .refused(let refusal):
                found.reportDamage("\(found.path) is refused: \(refusal)")
                return nil
            case .failed(let error):
                environment.events.emit(LoadEvent(kind: .degraded("\(error)"), url: self.request.url))
                if error.code == .damaged { found.reportDamage("\(error)") }
                return nil
            }
        }
        do throws(URLError) {
            let decoded = try answer.decoded(for: request.url)
            return PackedVariant(decoded, url: canonical.url.string, released: found.released ?? .distantPast)
        } catch {
            environment.events.emit(LoadEvent(kind: .degraded("\(error)"), url: request.url))
            return nil
        }
    }
}
