#if NIO
import Foundation
import NIOCore
import WaystationArchive
import WaystationHTTP

/// Makes decoders for content codings (RFC 9110 §8.4.1).
enum ContentDecoding {
    /// The largest number of codings of one body that are removed.
    ///
    /// Real bodies have one; each costs memory.
    static let maximumCount = 3

    /// Makes the decoder of a body.
    ///
    /// - Parameters:
    ///   - codings: The names in `Content-Encoding`, in the order in which the server applied them.
    ///   - limits: The limits on the decoded size.
    /// - Returns: The decoder, or nil if a coding is unknown, its library is missing, there are more than three, or
    ///   nothing is to be decoded.
    static func make(for codings: [String], limits: DecodingLimits) -> (any ContentDecoder)? {
        let names = ContentCodings(codings).names
        guard !names.isEmpty, names.count <= maximumCount else { return nil }
        var stages: [DecodingStage] = []
        // The coding that was applied last is removed first.
        for name in names.reversed() {
            guard let codec = ContentCodecs.make(name) else { return nil }
            stages.append(DecodingStage(codec))
        }
        return StagedDecoder(stages, limits: limits)
    }
}

/// Removes one coding after the other.
struct StagedDecoder: ContentDecoder {
    /// The number of bytes that one call hands from coding to coding before it returns without a result.
    private static let workPerCall = 256 << 10

    /// In the order in which the codings are removed.
    private let stages: [DecodingStage]
    private let limits: DecodingLimits
    private var encodedCount = 0

    init(_ stages: [DecodingStage], limits: DecodingLimits) {
        self.stages = stages
        self.limits = limits
    }

    mutating func append(_ part: ByteBuffer) {
        encodedCount = encodedCount.addingReportingOverflow(part.readableBytes).partialValue
        stages.first?.append(part)
    }

    mutating func next() throws -> Data? {
        guard let last = stages.indices.last else { return nil }
        var handedOn = 0
        while handedOn < Self.workPerCall {
            if let data = try stages[last].next({ Data($0) }) {
                try checkSizes()
                return data
            }
            guard let count = try feed(last) else { return nil }
            handedOn += count
        }
        return Data()
    }

    mutating func finish() throws {
        for stage in stages { try stage.finish() }
    }

    /// Moves decoded bytes of the stages before `index` one stage on.
    ///
    /// - Returns: Their number, or nil when more encoded bytes are needed.
    private func feed(_ index: Int) throws -> Int? {
        var before = index - 1
        while before >= 0 {
            if let part = try stages[before].next({ ByteBuffer(bytes: $0) }) {
                try checkSizes()
                stages[before + 1].append(part)
                return part.readableBytes
            }
            before -= 1
        }
        return nil
    }

    /// Compares the output of every stage with the bytes that arrived, so that bombs within bombs are found as well.
    private func checkSizes() throws {
        for stage in stages.dropLast() {
            try check(stage, ratio: limits.handedOnRatio, floor: limits.handedOnBytesBeforeRatio) { count in
                """
                expands \(encodedCount) bytes to more than \(count) for the coding below it, which must hardly expand; \
                load the body with one coding
                """
            }
        }
        guard let last = stages.last else { return }
        try check(last, ratio: limits.ratio, floor: limits.bytesBeforeRatio) { count in
            """
            expands \(encodedCount) bytes to more than \(count), which is over the limit of \(limits.ratio) times; raise \
            the limit decodedRatio of the transport's options if the server can be trusted
            """
        }
    }

    private func check(_ stage: DecodingStage, ratio: Int, floor: Int, _ reason: (Int) -> String) throws {
        let (allowed, isHuge) = encodedCount.multipliedReportingOverflow(by: max(1, ratio))
        guard !isHuge, stage.decodedCount > max(allowed, floor) else { return }
        throw DecodingFailure(coding: stage.name, reason: reason(stage.decodedCount))
    }
}

/// Removes one coding: encoded bytes go in, decoded bytes are pulled out.
///
/// The scratch memory that the codec writes to is kept for the life of the stage.
final class DecodingStage {
    /// The largest number of bytes of one decoded piece.
    static let pieceSize = 64 << 10

    /// The number of bytes that were decoded so far.
    private(set) var decodedCount = 0

    /// The name of the coding.
    var name: String { codec.name }

    private let codec: any ContentCodec
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    private var input = ByteBuffer()
    private var hasInput = false

    init(_ codec: any ContentCodec) { self.codec = codec }

    deinit { scratch.deallocate() }

    func append(_ part: ByteBuffer) {
        guard part.readableBytes > 0 else { return }
        hasInput = true
        guard input.readableBytes > 0 else { return input = part }
        input.writeImmutableBuffer(part)
    }

    /// The next decoded bytes, or nil when more encoded bytes are needed.
    func next<Piece>(_ make: (UnsafeRawBufferPointer) -> Piece) throws(DecodingFailure) -> Piece? {
        do {
            while true {
                let progress = try input.withUnsafeReadableBytes { try codec.decode($0, into: scratch) }
                input.moveReaderIndex(forwardBy: progress.taken)
                if progress.written > 0 {
                    decodedCount = decodedCount.addingReportingOverflow(progress.written).partialValue
                    return make(UnsafeRawBufferPointer(rebasing: scratch[..<progress.written]))
                }
                guard progress.taken > 0 else { return nil }
            }
        } catch let error as CodecError {
            throw DecodingFailure(coding: codec.name, reason: error.reason)
        } catch {
            throw DecodingFailure(coding: codec.name, reason: "cannot be removed (\(error))")
        }
    }

    /// Checks that the encoded bytes are complete.
    ///
    /// An empty body is: a server that sends none need not encode it.
    func finish() throws(DecodingFailure) {
        guard !hasInput || (codec.isComplete && input.readableBytes == 0) else {
            throw DecodingFailure(
                coding: codec.name,
                reason: "ends too early, after \(decodedCount) decoded bytes; load the body again"
            )
        }
    }
}
#endif
