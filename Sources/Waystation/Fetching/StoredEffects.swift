import Dispatch
import HTTPTypes
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The changes that an answer of the origin makes to the stored responses of its request.
struct StoredEffects {
    let plan: FetchPlan
    let cache: CacheAccess
    /// The point in the order of the store's invalidations at which the request was sent.
    let moment: StoreMoment

    func apply(_ changes: [StoredChange]) {
        for change in changes {
            switch change {
            case .update(let index, let head) where head.needsValidation: drop([index])
            case .update(let index, let head) where plan.variants.parts(at: index) != nil:
                guard let parts = plan.variants.parts(at: index),
                    let newest = plan.variants.response(at: parts.newest)
                else { continue }
                let part = newest.head.part(updatedBy: head)
                // The parts now belong to another variant, for which they were not asked for.
                if part.vary == newest.head.vary { cache.store.freshen(newest, with: part) } else { drop([index]) }
            case .update(let index, let head):
                guard let stored = plan.variants.response(at: index) else {
                    // A pack's file is never changed: the updated response is stored over it.
                    copy(index, head)
                    continue
                }
                guard head.vary == stored.head.vary else {
                    // The response now belongs to another variant (RFC 9111 §4.1), which is another row.
                    copy(index, head)
                    drop([index])
                    continue
                }
                cache.store.freshen(stored, with: head)
            case .add(let index, let head): copy(index, head)
            }
        }
    }

    /// Stores a head together with the content of the stored response at the index.
    private func copy(_ index: Int, _ head: StoredHead) {
        guard let body = plan.variants.body(at: index) else { return }
        let copy = ResponseRecorder(cache.store)
        copy.begin(head.tagged(plan.tags), under: plan.presented.key, length: body.length, asOf: moment)
        guard copy.isRecording else { return }
        switch body {
        case .data(let data):
            copy.append(data)
            copy.end(isComplete: true)
        case .source(let source):
            // The disk is not read on the thread that handles the network.
            DispatchQueue.global().async { [cache, plan] in
                do {
                    let piece = 512 << 10
                    for start in stride(from: 0, to: source.length, by: piece) {
                        copy.append(try source.read(at: start, count: min(piece, source.length - start)))
                    }
                    copy.end(isComplete: true)
                } catch {
                    copy.end(isComplete: false)
                    cache.events.emit(LoadEvent(kind: .degraded("\(error)"), url: plan.request.url))
                }
            }
        }
    }

    func drop(_ indices: [Int]) {
        let outdated = indices.flatMap(plan.variants.rows(at:))
        if !outdated.isEmpty { cache.store.remove(outdated) { _ in } }
    }
}
