extension OfflineDirectory {
    /// How an offline directory answers.
    public struct Options: Sendable, Hashable {
        /// The names tried in order when a directory is asked for.
        ///
        /// Default: `index.html`, `index.htm`.
        public var indexDocuments: [String]
        /// The most bytes kept in memory, all files together.
        ///
        /// Default: 16 MiB. 0 keeps none.
        public var residentLimit: Int
        /// The most bytes that one file may have to be kept in memory, or read in one piece.
        ///
        /// Default: 256 KiB.
        public var residentFileLimit: Int
        /// How many bytes of a larger file are read at a time.
        ///
        /// Default: 256 KiB.
        public var chunkSize: Int

        /// Makes options; what is not given has its default.
        public init(
            indexDocuments: [String] = ["index.html", "index.htm"],
            residentLimit: Int = 16 << 20,
            residentFileLimit: Int = 256 << 10,
            chunkSize: Int = 256 << 10
        ) {
            self.indexDocuments = indexDocuments
            self.residentLimit = residentLimit
            self.residentFileLimit = residentFileLimit
            self.chunkSize = chunkSize
        }
    }
}
