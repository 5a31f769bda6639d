extension PackUpdater {
    /// How an updater works.
    public struct Configuration: Sendable {
        /// The network; one long-lived plain session by default.
        public var fetcher: any PackFetching = URLSessionFetcher()
        /// Knows which conditions the present network fulfils; by the interface of the default route unless set.
        public var networkProbe: any NetworkProbe = DefaultRouteProbe()
        /// Finds the cheapest way to an offered version.
        public var planner = UpdatePlanner()
        /// Modules to ask for that have no pack yet; none by default.
        ///
        /// A source that answers with whatever there is needs no names.
        public var modules: [ModuleID] = []
        /// How often ``PackUpdater/check(isForced:progress:)`` may ask the source; every five minutes and up to a tenth
        /// more by default.
        ///
        /// ``PackUpdater/run(every:clock:reported:)`` has an interval of its own, and takes only the variation from here.
        public var interval = UpdateThrottle.Interval()
        /// How long a new version may take to be confirmed by ``PackLibrary/confirm(_:)``.
        ///
        /// Nil by default: it counts as good from the start. A version that is not confirmed in time is rolled back at
        /// the next check. The time is that of one run of the app, from its first check with the version on, by a clock
        /// that nobody can set: another start begins it anew, see ``healthStarts``.
        public var healthWindow: Duration?
        /// How often the app may start with a version that it does not confirm; three times by default.
        ///
        /// At the first check of the next start the version is rolled back: an app that it brings down before its time is
        /// up never comes to the end of ``healthWindow``. Counts only where that is set.
        public var healthStarts = 3
        /// How long a version that failed its trial is left alone; a day by default.
        ///
        /// It is tried again then: nothing is banned for ever. Another pack under the same number does not wait.
        public var retryInterval: Duration = .seconds(86_400)
        /// How long a download or a patch that was damaged, or not what was announced, is left alone.
        ///
        /// A minute by default, twice as long after each further failure, an hour at most. A file that the server
        /// announces with another digest does not wait.
        public var retryPause = RetryPause()
        /// What is known of packs that say nothing themselves: called for zips without a manifest.
        ///
        /// By default the version is the offer's, else the one in the zip's file name (`shop-1.4.2.zip`), else one made of
        /// the zip's digest (`0-9e107d9d372b`). The files are served below the offer's base URLs; where it names none, below
        /// the folders at which the most of them are on the offer's whitelist.
        public var describe: @Sendable (ModuleOffer) -> PackDescription? = PackDescription.init(of:)

        /// The defaults.
        public init() {}
    }
}
