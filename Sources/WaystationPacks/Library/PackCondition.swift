/// What is wrong with a library's files: the events that reported what nothing has settled since.
struct PackCondition: Sendable {
    /// So many are kept of what is about no module.
    private static let limit = 16

    private(set) var events: [PackEvent] = []

    /// Takes in what happened.
    mutating func note(_ event: PackEvent) {
        switch event.kind {
        case .damaged, .unreadable:
            events.removeAll {
                $0.kind == event.kind && $0.module == event.module
                    && (event.module != nil || $0.detail == event.detail)
            }
            if event.module == nil, events.count(where: { $0.module == nil }) >= Self.limit { return }
            events.append(event)
        case .installed, .activated, .removed:
            guard let module = event.module else { return }
            events.removeAll { $0.module == module }
        default: break
        }
    }

    /// Takes in that the files of a module can be read.
    mutating func settleUnreadable(_ module: ModuleID) {
        events.removeAll { $0.kind == .unreadable && $0.module == module }
    }
}
