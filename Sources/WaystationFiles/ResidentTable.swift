import Synchronization

/// A file kept in memory, with its finished answers.
final class ResidentFile: Sendable {
    /// The decoded path relative to the root.
    let path: ExactPath
    let stamp: FileStamp
    let representation: Representation
    let getAnswer: FileAnswer
    let headAnswer: FileAnswer
    /// When the file was last found, as a count of uses of the table; only the table reads and writes it, under its
    /// lock.
    fileprivate let lastUse = Atomic<UInt64>(0)

    init(path: ExactPath, stamp: FileStamp, representation: Representation) {
        self.path = path
        self.stamp = stamp
        self.representation = representation
        getAnswer = representation.answer(isHead: false)
        headAnswer = representation.answer(isHead: true)
    }

    /// The cost of the file against the limit; the constant stands for the objects around the bytes.
    var cost: Int { representation.length + 2048 }
}

/// The files kept in memory, found by the spellings of their paths, limited in bytes.
///
/// When the table is full, the least recently used files are removed until a quarter is free, so that making room costs
/// little per file.
struct ResidentTable: Sendable {
    /// The maximum number of remembered spellings of one path.
    ///
    /// A path has an unlimited number of spellings (`a`, `%61`), and remembering one only saves a walk through
    /// directories.
    private static let spellingLimit = 4

    private struct Entry {
        let file: ResidentFile
        var spellings: [ExactPath] = []
    }

    private let limit: Int
    private var entries: [ExactPath: Entry] = [:]
    private var spellings: [ExactPath: ResidentFile] = [:]
    private(set) var cost = 0
    private var uses: UInt64 = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// The file last found under a spelling; the caller must check whether it is unchanged.
    mutating func file(spelled spelling: ExactPath) -> ResidentFile? {
        guard let file = spellings[spelling] else { return nil }
        use(file)
        return file
    }

    /// The file at a decoded path, if its version has this stamp.
    func file(at path: ExactPath, stamp: FileStamp) -> ResidentFile? {
        guard let file = entries[path]?.file, file.stamp == stamp else { return nil }
        return file
    }

    /// Keeps a file, and replaces an earlier version of it.
    ///
    /// - Returns: The file that is now kept under the path: an equal one that another thread kept before, or this one.
    mutating func keep(_ file: ResidentFile) -> ResidentFile {
        if let kept = self.file(at: file.path, stamp: file.stamp) { return kept }
        remove(at: file.path)
        guard file.cost <= limit else { return file }
        if cost + file.cost > limit { evict(downTo: limit - limit / 4 - file.cost) }
        use(file)
        entries[file.path] = Entry(file: file)
        cost += file.cost
        return file
    }

    /// Records a spelling under which a file can be found, if the file is kept.
    mutating func learn(_ spelling: ExactPath, for file: ResidentFile) {
        guard let entry = entries[file.path], entry.file === file else { return }
        guard spellings[spelling] !== file, entry.spellings.count < Self.spellingLimit else { return }
        spellings[spelling] = file
        entries[file.path]?.spellings.append(spelling)
    }

    /// Removes a file that has changed.
    mutating func remove(_ file: ResidentFile) {
        guard entries[file.path]?.file === file else { return }
        remove(at: file.path)
    }

    private mutating func use(_ file: ResidentFile) {
        uses += 1
        file.lastUse.store(uses, ordering: .relaxed)
    }

    private mutating func remove(at path: ExactPath) {
        guard let entry = entries.removeValue(forKey: path) else { return }
        cost -= entry.file.cost
        for spelling in entry.spellings { spellings[spelling] = nil }
    }

    private mutating func evict(downTo target: Int) {
        let byUse = entries.values.map { (use: $0.file.lastUse.load(ordering: .relaxed), path: $0.file.path) }
        for entry in byUse.sorted(by: { $0.use < $1.use }) {
            guard cost > target else { return }
            remove(at: entry.path)
        }
    }
}
