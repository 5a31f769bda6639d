import Foundation
import Measuring

/// The pages of a real site: the files of a directory, each with a popularity.
///
/// The directory is that of Debian's package `sqlite3-doc`: the sizes and the mix of pages, pictures and scripts are
/// those of a site that exists, and a package is the same on all machines, so that a run can be repeated. How often its
/// pages are read is not known. So the popularity follows Zipf's law, with the exponent that proxies measured (0.64 to
/// 0.83 in Breslau et al., 1999).
struct Site: Sendable {
    struct Page: Sendable {
        /// The path with a leading slash.
        let path: String
        let file: URL
        /// How long an answer is fresh, in seconds; an hour of a real site takes less than a minute here.
        let lifetime: Int
    }

    /// The pages, the most popular first.
    let pages: [Page]
    private let popularity: Zipf

    static let exponent = 0.8
    /// Larger files are few, and would make the bytes of a run depend on chance.
    private static let sizes = 200..<200_000
    private static let lifetimes = (page: 12, other: 120)

    /// Reads a directory.
    ///
    /// - Throws: ``Problem`` when the directory has no files.
    init(_ directory: URL) throws {
        let root = directory.standardizedFileURL.path + "/"
        let keys: Set<URLResourceKey> = [.fileSizeKey, .isRegularFileKey]
        let found = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: Array(keys))
        let files = (found?.allObjects as? [URL] ?? []).filter { file in
            guard let values = try? file.resourceValues(forKeys: keys) else { return false }
            return values.isRegularFile == true && values.fileSize.map(Self.sizes.contains) ?? false
        }
        guard !files.isEmpty else {
            throw Problem("\(directory.path) has no files: install Debian's package sqlite3-doc, as `make fleet` does")
        }
        var random = SeededRandom(seed: 1)
        pages = files.map { file in
            Page(
                path: "/" + file.standardizedFileURL.path.dropFirst(root.count),
                file: file,
                lifetime: file.pathExtension == "html" ? Self.lifetimes.page : Self.lifetimes.other
            )
        }
        .sorted { $0.path < $1.path }
        .shuffled(using: &random)
        popularity = Zipf(count: pages.count, exponent: Self.exponent)
    }

    /// The probabilities of the pages, in their order.
    var probabilities: [Double] { popularity.probabilities }

    /// A page by chance.
    func page(using random: inout SeededRandom) -> Page { pages[popularity.sample(using: &random)] }
}

/// An error with a message for the user of the tool.
struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
