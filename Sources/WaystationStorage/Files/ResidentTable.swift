/// A file kept in memory, with its finished answers.
final class ResidentFile: Sendable {
    /// The decoded path relative to the root.
    let path: ExactPath
    let stamp: FileStamp
    let representation: Representation
    let getAnswer: FileAnswer
    let headAnswer: FileAnswer

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

/// The files kept in memory, found by the spellings of their paths, limited in bytes; the least recently used are removed
/// first.
struct ResidentTable: Sendable {
    /// The maximum number of remembered spellings of one path.
    ///
    /// A path has an unlimited number of spellings (`a`, `%61`), and remembering one only saves a walk through
    /// directories.
    private static let spellingLimit = 4

    private typealias Entries = LeastRecentlyUsed<ExactPath, Entry>

    private struct Entry {
        let file: ResidentFile
        var spellings: [ExactPath] = []
    }

    private let limit: Int
    private var entries = Entries()
    /// The place of a file by each remembered spelling of its path.
    private var spellings: [ExactPath: Entries.Position] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// The file last found under a spelling; the caller must check whether it is unchanged.
    mutating func file(spelled spelling: ExactPath) -> ResidentFile? {
        guard let position = spellings[spelling] else { return nil }
        entries.use(position)
        return entries[position]?.file
    }

    /// The file at a decoded path, if its version has this stamp.
    func file(at path: ExactPath, stamp: FileStamp) -> ResidentFile? {
        guard let file = entry(at: path)?.file, file.stamp == stamp else { return nil }
        return file
    }

    /// Keeps a file, and replaces an earlier version of it.
    ///
    /// - Returns: The file that is now kept under the path: an equal one that another thread kept before, or this one.
    mutating func keep(_ file: ResidentFile) -> ResidentFile {
        if let kept = self.file(at: file.path, stamp: file.stamp) { return kept }
        remove(at: file.path)
        guard file.cost <= limit else { return file }
        while entries.cost + file.cost > limit, let oldest = entries.removeOldest() { forget(oldest.spellings) }
        entries.insert(Entry(file: file), for: file.path, cost: file.cost)
        return file
    }

    /// Records a spelling under which a file can be found, if the file is kept.
    mutating func learn(_ spelling: ExactPath, for file: ResidentFile) {
        guard let position = entries.position(of: file.path), let entry = entries[position], entry.file === file,
            spellings[spelling] != position, entry.spellings.count < Self.spellingLimit
        else { return }
        spellings[spelling] = position
        entries.update(position) { entry in
            entry.spellings.append(spelling)
            return 0
        }
    }

    /// Removes a file that has changed.
    mutating func remove(_ file: ResidentFile) {
        guard entry(at: file.path)?.file === file else { return }
        remove(at: file.path)
    }

    private func entry(at path: ExactPath) -> Entry? { entries.position(of: path).flatMap { entries[$0] } }

    private mutating func remove(at path: ExactPath) {
        if let entry = entries.remove(path) { forget(entry.spellings) }
    }

    private mutating func forget(_ old: [ExactPath]) {
        for spelling in old { spellings[spelling] = nil }
    }
}
