import Dispatch
import Foundation
import HTTPTypes
import WaystationFiles

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Serving {
    /// The verdict of the installed packs and of the newer responses that are stored over their files.
    func overlay(
        _ strategy: CacheStrategy,
        _ packs: any InstalledPacks,
        otherwise: @escaping @Sendable () -> Verdict
    ) -> Verdict {
        guard let fetches = sources.fetches, let found = packs.file(for: canonical.url),
            let request = sources.cacheRequest(request, canonical)
        else { return otherwise() }
        // The pack alone redirects to a folder, and answers requests with a range or conditions if the strategy does not
        // handle them itself.
        guard !found.lacksSlash, strategy.obeysHTTP || request.asksForWhole else {
            return pack(found, otherwise: otherwise)
        }
        let presented = request.within(Overlay.partition(of: found.module, in: found.folder))
        let cache = fetches.cache
        let ends = fetches.ends(of: presented.key)
        return .lookUp(
            LookUp { completion in
                cache.store.lookup(presented.key, opening: presented.mayBeAnswered) { responses in
                    // The pack's files must not be read on the store's queue.
                    DispatchQueue.global().async {
                        let packed = packedVariant(found)
                        guard packed != nil || !responses.isEmpty else { return completion(otherwise()) }
                        let variants = StoredVariants(cache.usable(responses), over: packed)
                        completion(verdict(strategy, presented, variants, in: cache, lookedUp: ends))
                    }
                }
            }
        )
    }

    private func packedVariant(_ found: InstalledFile) -> PackedVariant? {
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
                sources.events.emit(LoadEvent(kind: .degraded("\(error)"), url: self.request.url))
                if error.code == .damaged { found.reportDamage("\(error)") }
                return nil
            }
        }
        do throws(URLError) {
            let decoded = try answer.decoded(for: request.url)
            return PackedVariant(decoded, url: canonical.url.string, released: found.released ?? .distantPast)
        } catch {
            sources.events.emit(LoadEvent(kind: .degraded("\(error)"), url: request.url))
            return nil
        }
    }
}
