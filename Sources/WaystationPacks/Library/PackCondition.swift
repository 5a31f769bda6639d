/// The current faults of a library's files: events that reported a fault, until a later event shows that it is gone.
struct PackCondition: Sendable {
    /// The maximum number of events that belong to no module.
    private static let limit = 16

    private(set) var events: [PackEvent] = []

    /// Adds an event that reports a fault; events that show a module's faults as gone remove that module's.
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

    /// Removes the unreadable event of a module, whose files can be read again.
    mutating func settleUnreadable(_ module: ModuleID) {
        events.removeAll { $0.kind == .unreadable && $0.module == module }
    }
}
