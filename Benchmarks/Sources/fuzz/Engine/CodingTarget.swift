#if DEBUG || TESTABLE
import Foundation
import NIOCore
@testable import WaystationNIO
import WaystationTestSupport

/// Removes content codings from a body.
///
/// The first two bytes choose the codings; the rest is cut into reads.
struct CodingTarget: FuzzTarget {
    let maximumLength = 4 << 10
    private static let names = ["gzip", "deflate", "br", "zstd"]
    private let limits = DecodingLimits(ratio: 20, bytesBeforeRatio: 1 << 20)

    func seeds() throws -> [Data] {
        let bodies = (HostileCoding.bodies + HostileCoding.bombs).filter { $0.bytes.count < maximumLength }
        return bodies.flatMap { codings, bytes in
            let names = codings.split(separator: ",").map { $0.drop { $0 == " " } }
            // Two bits for each coding, and the number of codings less one.
            var choice = UInt8(max(0, min(3, names.count) - 1)) << 6
            for (place, name) in names.prefix(3).enumerated() {
                choice |= UInt8(Self.names.firstIndex(of: String(name)) ?? 0) << (2 * UInt8(place))
            }
            return [UInt8(0), 1, 100].map { Data([choice] + InputParts.input(bytes, by: $0)) }
        }
    }

    func run(_ input: Data) throws {
        let input = [UInt8](input)
        guard let choice = input.first else { return }
        let codings = (0...min(2, choice >> 6)).map { Self.names[Int(choice >> (2 * $0) & 3)] }
        guard var decoder = ContentDecoding.make(for: codings, limits: limits) else {
            throw Finding("\(codings) have no decoder")
        }
        var encoded = 0
        var decoded = 0
        do {
            for part in InputParts(input.dropFirst()) {
                encoded += part.count
                decoder.append(ByteBuffer(bytes: part))
                while let piece = try decoder.next() {
                    decoded += piece.count
                    try Finding.unless(piece.count <= 64 << 10, "a piece of \(piece.count) bytes")
                    try Finding.unless(
                        decoded <= max(limits.bytesBeforeRatio, encoded * limits.ratio),
                        "\(encoded) bytes were decoded to \(decoded)"
                    )
                }
            }
            try decoder.finish()
        } catch is DecodingFailure {}
    }
}
#endif
