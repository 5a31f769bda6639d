import Foundation
import Synchronization
import WaystationHTTP

/// The effect of a purge on the responses that it selects.
public enum PurgeKind: Hashable, Sendable {
    /// They are never served again, and their space is freed in the background.
    case hard
    /// They are stale at once: they serve where a stale response may (RFC 9111 §4.2.4, RFC 5861), and a validation makes
    /// them fresh again.
    case soft
}

/// A purge of the responses that were stored by then, as the index keeps it.
///
/// No response is touched by the purge itself: each look-up compares what it finds with the purges. So purging takes the
/// same time however many responses are selected.
struct Purge: Hashable, Sendable {
    /// The label of the responses, and the kind of the purge; a later purge with the same two replaces an earlier one.
    struct Order: Hashable, Sendable {
        let label: ResponseLabel
        let kind: PurgeKind
    }

    let order: Order
    /// The number of the purge; later purges have higher ones.
    let id: Int64
    /// The highest identifier of a response that was stored before.
    let newest: Int64
    /// The moment of the purge: not before any response that was stored before had arrived, also if the clock was set
    /// back.
    let time: Date

    /// Whether a response was stored before the purge, and, if the purge is soft, not confirmed by its origin since.
    ///
    /// A validation keeps the identifier of its response, and gives it the time of a later request.
    func selects(_ id: Int64, requestTime: Date) -> Bool {
        guard id <= newest else { return false }
        return switch order.kind {
        case .hard: true
        case .soft: requestTime <= time
        }
    }
}

/// The effect of all purges on one response.
enum PurgeEffect: Hashable, Sendable {
    /// No purge selects the response.
    case none
    /// A soft purge does: the response is stale from this moment on.
    case stale(from: Date)
    /// A hard purge does: the response must not be used.
    case removed
}

/// The purges that this process knows: those of the index, and its own that are not written yet.
///
/// The number of the last purge, which every look-up reads together with its rows, shows whether another process has
/// purged something since.
final class KnownPurges: Sendable {
    /// A purge that has its effect in this process, and that is to be written.
    struct Begun: Sendable {
        let order: Purge.Order
        /// Distinguishes it from later purges of the same.
        let number: Int
        let time: Date
    }

    fileprivate struct Unwritten {
        let number: Int
        let time: Date
        /// Whether an attempt to write it has failed.
        var hasFailed = false
    }

    fileprivate struct State {
        var written: [Purge.Order: Purge] = [:]
        var unwritten: [Purge.Order: Unwritten] = [:]
        /// The number of the last purge among those that were read or written.
        var last: Int64 = 0
        var lastNumber = 0
        /// How many times purges have ended.
        var ended = 0
    }

    private let state = Mutex(State())
    /// Whether any purge is known; without one, a look-up does no work for them.
    private let isActive = Atomic(false)
    /// A copy of the state's number, for look-ups in memory, which take no lock.
    private let endings = Atomic(0)
    /// Called with what the purges that other processes have made select.
    private let onLearning: @Sendable ([ResponseScope]) -> Void

    init(onLearning: @escaping @Sendable ([ResponseScope]) -> Void = { _ in }) { self.onLearning = onLearning }

    // MARK: - Effects

    var isEmpty: Bool { !isActive.load(ordering: .acquiring) }

    /// How many times purges have ended, since none of the rows was left that they selected.
    ///
    /// The effects on rows that were read before such an end are not known any more after it.
    var ended: Int { endings.load(ordering: .acquiring) }

    /// The effect of the purges on a response.
    ///
    /// - Parameters:
    ///   - id: The response's identifier.
    ///   - requestTime: When the request was sent that led to the response, or that validated it last.
    ///   - labels: The response's labels, which are only read if there is a purge.
    /// - Returns: The effect.
    func effect(on id: Int64, requestTime: Date, _ labels: @autoclosure () -> Set<ResponseLabel>) -> PurgeEffect {
        guard !isEmpty, case let labels = labels(), !labels.isEmpty else { return .none }
        return state.withLock { state in
            var staleFrom: Date?
            for label in labels {
                func time(_ kind: PurgeKind) -> Date? {
                    let order = Purge.Order(label: label, kind: kind)
                    // A response that is found before the purge is written was stored before it.
                    if let purge = state.unwritten[order] { return purge.time }
                    return state.written[order].flatMap { $0.selects(id, requestTime: requestTime) ? $0.time : nil }
                }
                guard time(.hard) == nil else { return .removed }
                staleFrom = [staleFrom, time(.soft)].compactMap(\.self).min()
            }
            return staleFrom.map { .stale(from: $0) } ?? .none
        }
    }

    func effect(on id: Int64, _ head: StoredHead) -> PurgeEffect {
        effect(on: id, requestTime: head.requestTime, head.labels)
    }

    /// Whether responses in memory are still as the purges leave them.
    ///
    /// `ended` is the value of ``ended`` before they were read. If a purge has ended since then, the responses may be those
    /// that were removed for it, and are not allowed.
    func allow(_ responses: [StoredResponse], readAfter ended: Int) -> Bool {
        let isAllowed =
            isEmpty
            || responses.allSatisfy { response in
                switch effect(on: response.id, response.head) {
                case .none: true
                case .stale(let time): response.head.staleFrom.map { $0 <= time } ?? false
                case .removed: false
                }
            }
        return isAllowed && ended == self.ended
    }

    // MARK: - Purges of this process

    /// Begins a purge, which has its effect at once.
    func begin(_ order: Purge.Order, at time: Date) -> Begun {
        change { state in
            state.lastNumber += 1
            state.unwritten[order] = Unwritten(number: state.lastNumber, time: time)
            return Begun(order: order, number: state.lastNumber, time: time)
        }
    }

    /// Records that purges are in the index, except those of which a later one waits to be written.
    func end(_ purges: [Begun]) {
        change { state in
            for purge in purges where state.unwritten[purge.order]?.number == purge.number {
                state.unwritten[purge.order] = nil
            }
        }
    }

    /// Records that purges could not be written: they keep their effect, and are written later.
    func fail(_ purges: [Begun]) {
        change { state in
            for purge in purges where state.unwritten[purge.order]?.number == purge.number {
                state.unwritten[purge.order]?.hasFailed = true
            }
        }
    }

    /// The purges whose writing has failed.
    var failed: [Begun] {
        guard !isEmpty else { return [] }
        return state.withLock { state in
            state.unwritten.filter(\.value.hasFailed).map { Begun(order: $0, number: $1.number, time: $1.time) }
        }
    }

    // MARK: - The index

    /// The number of the last purge of the index that is known.
    var last: Int64 { state.withLock(\.last) }

    /// Takes the purges of an index that was opened.
    func open(_ purges: [Purge], last: Int64) { change { $0.take(purges, last) } }

    /// Takes the purges of the index, if they are not older than those that are known.
    ///
    /// - Parameters:
    ///   - purges: All purges of the index.
    ///   - last: The highest number that the index has given to a purge by then.
    ///   - own: The purges among them that this process has just made.
    func learn(_ purges: [Purge], last: Int64, own: Set<Purge.Order> = []) {
        let learned = change { state -> [ResponseScope] in
            guard last >= state.last else { return [] }
            let new = purges.filter { $0.id > state.last }
            let areMissing = last - state.last > new.count { $0.id <= last }
            state.take(purges, last)
            // A purge whose rows were removed is gone, and may have selected anything.
            return areMissing ? [.all] : new.filter { !own.contains($0.order) }.map { .label($0.order.label) }
        }
        if !learned.isEmpty { onLearning(learned) }
    }

    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            defer {
                // A look-up that finds no purge any more must also find that one has ended.
                endings.store(state.ended, ordering: .releasing)
                isActive.store(!state.written.isEmpty || !state.unwritten.isEmpty, ordering: .releasing)
            }
            return body(&state)
        }
    }
}

extension KnownPurges.State {
    fileprivate mutating func take(_ purges: [Purge], _ last: Int64) {
        let known = written
        written = Dictionary(purges.map { ($0.order, $0) }) { $0.id > $1.id ? $0 : $1 }
        if known.contains(where: { written[$0.key] == nil }) { ended += 1 }
        self.last = last
    }
}
