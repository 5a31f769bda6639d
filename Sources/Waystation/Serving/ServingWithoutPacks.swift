#if !Packs
// Stand-ins for the sources of rules with packs: a build without the trait `Packs` has no such rules.
extension Serving {
    func pack(_ packs: PackLibrary, otherwise: @escaping @Sendable () -> Verdict) -> Verdict { otherwise() }

    func overlay(
        _ strategy: CacheStrategy,
        _ packs: PackLibrary,
        otherwise: @escaping @Sendable () -> Verdict
    ) -> Verdict {
        otherwise()
    }
}
#endif
