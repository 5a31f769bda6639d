import Foundation
import HTTPTypes
import Synchronization
import WaystationCaching
import WaystationSharing

extension SharedResponses {
    /// Whether the response to a request may be looked up and shared.
    func admits(_ request: SharedRequest) -> Bool { limits.includesPersonal || !request.isPersonal }

    /// Whether a response may be shared, by its fields and its size.
    ///
    /// - Parameters:
    ///   - control: The directives of the response.
    ///   - setsCookie: Whether the response sets a cookie; then it may be meant for one user.
    ///   - length: The number of bytes of the body.
    /// - Returns: Whether the response may be shared.
    func admits(_ control: CacheControl, setsCookie: Bool, length: Int) -> Bool {
        guard length <= limits.body else { return false }
        return limits.includesPersonal || (control.private == .nothing && !setsCookie)
    }

    /// Records whether the response to a request could be shared, for the next loads of this machine.
    func note(_ request: SharedRequest, isShareable: Bool) {
        if !isShareable {
            let (entry, time) = (keys.entry(request), now())
            unshared.withLock { $0.insert(entry, at: time) }
        } else if !unshared.withLock(\.isEmpty) {
            let entry = keys.entry(request)
            unshared.withLock { $0.remove(entry) }
        }
    }

    /// Stores a response in the tier, gives it a lifetime, and ends the ticket's lease.
    func store(_ head: StoredHead, _ body: Data, for lifetime: Duration, with ticket: SharedTicket) async {
        defer { ticket.end() }
        let lifetime = min(lifetime, Self.longestLifetime)
        guard lifetime >= .seconds(1), outbox.withLock(\.isEmpty) else { return }
        // The entry is of use only as long as its roots, which may be about to end.
        async let all = tier.touch(keys.root, for: Self.rootLifetime)
        async let url = tier.touch(keys.root(of: ticket.request.key.url), for: Self.rootLifetime)
        guard await (all, url) == (true, true) else { return }
        var place = ticket.entry
        if !head.vary.nominees.isEmpty {
            let names = SharedEntry.variants(of: head.vary.nominees.map(\.name))
            guard await put(names, at: place, for: lifetime, under: ticket.stamp) else { return }
            place = keys.variant(head.vary, of: place)
        }
        _ = await put(.response(head, body: body), at: place, for: lifetime, under: ticket.stamp)
    }

    private func put(
        _ entry: SharedEntry,
        at place: TierKey,
        for lifetime: Duration,
        under stamp: SharedStamp
    ) async -> Bool {
        let contents = entry.encoded(under: stamp.bytes)
        let header = SharedEntry.header(for: contents.count + SharedKeys.sealLength)
        guard let sealed = keys.seal(contents, for: place, header: header) else { return false }
        return await tier.put(header + sealed, at: place, for: lifetime)
    }

    /// Ends a lease, and reports that to the machines that wait for it.
    func endLease(_ token: Data, of entry: TierKey) {
        pending.begin { [tier, keys] in
            await tier.remove(keys.lease(of: entry), ifEqualTo: token)
            _ = await tier.publish(Data(entry.name.utf8), on: keys.arrivals, isDurable: false)
        }
    }
}

extension VaryKey {
    /// The key of a request among responses that vary by the named fields.
    init(naming names: [HTTPField.Name], _ request: SharedRequest) {
        let list = names.map(\.canonicalName).joined(separator: ", ")
        self.init([.vary: list], request: request.fields)
    }
}
