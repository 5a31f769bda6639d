#if Packs
package import WaystationPacks

extension Interceptor {
    /// The installed packs; nil if the interceptor has none.
    package var packs: PackLibrary? { configuration.packs }

    /// Passes on the events of the packs, and drops the responses over a version that is no longer active.
    func listenToPacks() {
        let events = environment.events
        configuration.packs?.addListener(for: events) { [weak events, weak cache = configuration.cache] event in
            Overlay.drop(after: event, in: cache?.store)
            events?.emit(LoadEvent(kind: .pack(event)))
        }
        for event in configuration.packs?.condition ?? [] { events.emit(LoadEvent(kind: .pack(event))) }
    }
}
#endif
