import WaystationTransport

extension FoundationCure {
    /// All cures that reach into Foundation, in the order of their traps.
    ///
    /// The one of the sessions that a test reaches is in WaystationTesting, where it is used.
    package static let all: [FoundationCure] =
        ([
            InlineCompletion.current.cure, EndedTask.current.cure, DownloadedFile.current.cure,
            RequestTimeout.current.cure, RequestTimeout.current.limitCure,
            KnownResponses.cure,
        ] + FoundationInternals.cures)
        .sorted { $0.number < $1.number }

    /// The number of the trap; those of the text below the table have none, and come last.
    private var number: Int { Int(trap.dropFirst()) ?? .max }
}
