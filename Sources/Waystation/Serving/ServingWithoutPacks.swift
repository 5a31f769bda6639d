#if !Packs
// The sources of rules with packs, of which there are none in a build without the trait `Packs`.
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
