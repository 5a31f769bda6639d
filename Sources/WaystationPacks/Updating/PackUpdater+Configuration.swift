public import WaystationArchive

extension PackUpdater {
    /// The settings of an updater.
    public struct Configuration: Sendable {
        /// Fetches files and answers; by default with one long-lived plain session.
        public var fetcher: any PackFetching = URLSessionFetcher()
        /// Decides which conditions the present network fulfils; by default by the interface of the default route.
        public var networkProbe: any NetworkProbe = DefaultRouteProbe()
        /// Finds the cheapest way to an offered version.
        public var planner = UpdatePlanner()
        /// Modules to ask for that have no pack yet; none by default.
        ///
        /// Not needed for a source that always answers with all modules. For a module without a pack that is not listed
        /// here, the server's switch and whitelist are not stored: they count from its first update on.
        public var modules: [ModuleID] = []
        /// The minimum time between two checks by ``PackUpdater/check(isForced:progress:)``; by default five minutes,
        /// extended by up to a tenth.
        ///
        /// ``PackUpdater/run(every:clock:reported:)`` has its own interval, and uses only the random extension of this
        /// one.
        public var interval = UpdateThrottle.Interval()
        /// The time in which the app must confirm a new version by ``PackLibrary/confirm(_:version:)``.
        ///
        /// Nil by default: new versions need no confirmation. A version that is not confirmed in time is rolled back at
        /// the next check. The time is measured within one run of the app, from its first check with the version, by a
        /// monotonic clock; it starts again with each run, see ``healthStarts``.
        public var healthWindow: Duration?
        /// How often the app may start with a version without confirming it; three times by default.
        ///
        /// The version is rolled back at the first check of the next start. This covers a version with which the app
        /// always crashes before ``healthWindow`` is over. Only used if ``healthWindow`` is set.
        public var healthStarts = 3
        /// How long the updater skips a version that failed its trial; a day by default.
        ///
        /// After this time, the updater tries the version again. Another pack with the same version number is tried at
        /// once.
        public var retryInterval: Duration = .seconds(86_400)
        /// How long the updater skips a download or patch that was damaged, or did not match what was announced.
        ///
        /// A minute by default, doubled after each further failure, an hour at most. A file that the server announces
        /// with another digest is tried at once.
        public var retryPause = RetryPause()
        /// The limits beyond which a downloaded or patched zip is refused; the defaults of `ZipLimits` by default.
        public var zipLimits = ZipLimits()
        /// Describes packs without a manifest; called for their zips.
        ///
        /// By default the version is the offer's, else the one in the zip's file name (`shop-1.4.2.zip`), else one made
        /// from the zip's digest (`0-9e107d9d372b`). The files are served below the offer's base URLs. If it names
        /// none, they are served below the folders at which most of them are on the offer's whitelist.
        public var describe: @Sendable (ModuleOffer) -> PackDescription? = PackDescription.init(of:)

        /// Makes a configuration with the defaults.
        public init() {}
    }
}
