extension OfflineDirectory {
    /// How an offline directory answers.
    public struct Options: Sendable, Hashable {
        /// The names that are tried in order when a directory is requested.
        ///
        /// Default: `index.html`, `index.htm`.
        public var indexDocuments: [String]
        /// The maximum number of bytes kept in memory, for all files together.
        ///
        /// Default: 16 MiB. 0 keeps no files in memory.
        public var residentLimit: Int
        /// The maximum size in bytes of a file that is kept in memory, or read in one piece.
        ///
        /// Default: 256 KiB.
        public var residentFileLimit: Int
        /// The number of bytes of a larger file that are read at a time.
        ///
        /// Default: 256 KiB.
        public var chunkSize: Int

        /// Makes options; each has a default.
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
