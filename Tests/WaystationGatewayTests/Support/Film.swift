#if Gateway
import Foundation

/// A film in WebM with a picture for each second, and with cues, by which a player finds the place of a time.
///
/// Its pictures are keyframes that a browser has encoded in VP8. Empty elements of 1 MiB stand between them, so that a
/// player cannot have loaded the whole film when it seeks.
struct Film {
    /// The whole file.
    let data: Data

    private static let padding = 1 << 20

    /// Makes a film.
    ///
    /// - Parameters:
    ///   - pictures: A frame for each second.
    ///   - width: The width and the height of the frames, in pixels.
    ///   - isDense: Whether a player reads the padding, because it is in the frames, as in a film of large frames; otherwise it
    ///     is in elements of its own, which a player skips.
    init(_ pictures: [Data], width: Int, isDense: Bool = false) {
        // The numbers of the elements are those of RFC 8794 (EBML) and RFC 9559 (Matroska).
        let header = Self.element(
            0x1a45_dfa3,
            Self.number(0x4286, 1) + Self.number(0x42f7, 1) + Self.number(0x42f2, 4) + Self.number(0x42f3, 8)
                + Self.element(0x4282, Data("webm".utf8)) + Self.number(0x4287, 4) + Self.number(0x4285, 2)
        )
        let seconds = Double(pictures.count) * 1_000
        let duration = withUnsafeBytes(of: seconds.bitPattern.bigEndian) { Data($0) }
        let info = Self.element(0x1549_a966, Self.number(0x2ad7b1, 1_000_000) + Self.element(0x4489, duration))
        let size = Self.element(0xe0, Self.number(0xb0, width) + Self.number(0xba, width))
        let track = Self.number(0xd7, 1) + Self.number(0x73c5, 1) + Self.number(0x83, 1)
        let tracks = Self.element(
            0x1654_ae6b,
            Self.element(0xae, track + Self.element(0x86, Data("V_VP8".utf8)) + size)
        )
        let clusters = pictures.enumerated().map { second, picture in
            // Track 1, at the time of its cluster, a keyframe.
            let padding = Data(count: Self.padding)
            let frame = isDense ? picture + padding : picture
            let block = Self.element(0xa3, Data([0x81, 0, 0, 0x80]) + frame)
            return Self.element(0x1f43_b675, Self.number(0xe7, second * 1_000) + block)
                + (isDense ? Data() : Self.element(0xec, padding))
        }
        // All positions have the same length, so the length of the cues is known before the positions are.
        let start = info.count + tracks.count + Self.cues(clusters.map { _ in 0 }).count
        var position = start
        let positions = clusters.map { cluster in
            defer { position += cluster.count }
            return position
        }
        data =
            header
            + Self.element(0x1853_8067, info + tracks + Self.cues(positions) + clusters.reduce(Data(), +))
    }

    private static func cues(_ positions: [Int]) -> Data {
        let points = positions.enumerated().map { second, position in
            element(0xbb, number(0xb3, second * 1_000) + element(0xb7, number(0xf7, 1) + number(0xf1, position)))
        }
        return element(0x1c53_bb6b, points.reduce(Data(), +))
    }

    /// An element with its length in eight bytes.
    private static func element(_ id: UInt32, _ content: Data) -> Data {
        let name = withUnsafeBytes(of: id.bigEndian) { Data($0.drop { $0 == 0 }) }
        let length = withUnsafeBytes(of: (UInt64(content.count) | 1 << 56).bigEndian) { Data($0) }
        return name + length + content
    }

    private static func number(_ id: UInt32, _ value: Int) -> Data {
        element(id, withUnsafeBytes(of: UInt64(value).bigEndian) { Data($0) })
    }
}
#endif
