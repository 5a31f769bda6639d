package import Foundation

/// The known properties of the files of an offline directory: those of a pack, from its manifest.
package struct PinnedFiles: Sendable {
    /// The known properties of one file.
    package struct Pin: Sendable {
        /// The SHA-256 of its content.
        package let digest: Data
        /// Its media type, if it cannot be determined from the name and the content.
        package let mediaType: MediaType?

        package init(digest: Data, mediaType: MediaType? = nil) {
            self.digest = digest
            self.mediaType = mediaType
        }
    }

    private let pins: [ExactPath: Pin]
    /// When all the files were released; used instead of the times on disk.
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
