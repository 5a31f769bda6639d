package import Foundation

/// What the files of an offline directory are known to be: those of a pack, by its manifest.
package struct PinnedFiles: Sendable {
    /// What is known of one file.
    package struct Pin: Sendable {
        /// The SHA-256 of its content.
        package let digest: Data
        /// Its media type, where that is not to be told from name and content.
        package let mediaType: MediaType?

        package init(digest: Data, mediaType: MediaType? = nil) {
            self.digest = digest
            self.mediaType = mediaType
        }
    }

    private let pins: [ExactPath: Pin]
    /// When all of them were released, in place of the times on disk.
    let lastModified: HTTPDate?

    /// Pins files by their decoded paths relative to the root.
    package init(_ pins: [(path: String, pin: Pin)], lastModified: Date?) {
        self.pins = Dictionary(pins.map { (ExactPath($0.path), $0.pin) }) { first, _ in first }
        self.lastModified = lastModified.flatMap {
            HTTPDate(secondsSinceEpoch: Int($0.timeIntervalSince1970.rounded(.down)))
        }
    }

    subscript(path: String) -> Pin? { pins[ExactPath(path)] }
}
