/// The tree of an archive's names, in which no two places may be mistaken for each other.
///
/// Two names are the same place when they are equal after ``NameFolding``: a file system that folds names would
/// overwrite one file with the other, and a check of one name would not catch the other.
struct NameTree {
    private enum Kind { case file, impliedDirectory, directory }

    private struct Place: Hashable {
        let parent: Int
        /// Folded by ``NameFolding``; `String` compares by canonical equivalence.
        let foldedName: String
    }

    private struct Node {
        let number: Int
        let name: String
        var kind: Kind
    }

    private let maximumCount: Int
    private var nodes: [Place: Node] = [:]
    /// Every directory, including implied ones, parents before children.
    private(set) var directories: [String] = []

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// Adds an entry and the directories that its path implies.
    ///
    /// - Returns: Whether the entry is a new one; false for the root and for a directory that is an entry already.
    /// - Throws: ``ZipError`` when the entry collides with an earlier one, or when there are too many.
    mutating func insert(_ entry: EntryPath) throws(ZipError) -> Bool {
        var parent = 0
        var isNew = false
        for (depth, segment) in entry.segments.enumerated() {
            let isLast = depth == entry.segments.count - 1
            let kind: Kind = isLast ? (entry.isDirectory ? .directory : .file) : .impliedDirectory
            let place = Place(parent: parent, foldedName: NameFolding.folded(segment))
            guard var node = nodes[place] else {
                guard nodes.count < maximumCount else { throw Self.tooMany(maximumCount) }
                let node = Node(number: nodes.count + 1, name: String(segment), kind: kind)
                nodes[place] = node
                if kind != .file { directories.append(String(entry.path.unicodeScalars[..<segment.endIndex])) }
                parent = node.number
                isNew = isLast
                continue
            }
            switch (node.kind, kind) {
            case (.file, .impliedDirectory), (.file, .directory), (.impliedDirectory, .file), (.directory, .file):
                throw ZipError(
                    .fileIsDirectory,
                    entry: entry.path,
                    "has the same path as both a file and a directory; create the archive again, with different names"
                )
            case (.file, .file):
                throw Self.collision(entry)
            default:
                guard node.name.utf8.elementsEqual(segment.utf8) else { throw Self.collision(entry) }
            }
            if kind == .directory, node.kind == .impliedDirectory {
                node.kind = .directory
                nodes[place] = node
                isNew = true
            }
            parent = node.number
        }
        return isNew
    }

    static func tooMany(_ maximum: Int) -> ZipError {
        ZipError(
            .tooManyEntries,
            "the archive has more than the \(maximum) entries and directories that are allowed; split it, or raise "
                + "`maximumEntries`"
        )
    }

    static func collision(_ entry: EntryPath) -> ZipError {
        ZipError(
            .nameCollision,
            entry: entry.path,
            "has the same name as another entry, or differs from it only in case, Unicode form or invisible characters; "
                + "create the archive again, with different names"
        )
    }
}
