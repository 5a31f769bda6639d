#if NIO
import Foundation
import NIOCore

/// Removes one coding after the other.
struct StagedDecoder: ContentDecoder {
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
        while true {
            if let data = try stages[last].next({ Data($0) }) {
                try checkSizes()
                return data
            }
            guard try feed(last) else { return nil }
        }
    }

    mutating func finish() throws {
        for stage in stages { try stage.finish() }
    }

    /// Moves decoded bytes of the stage before to `index`; returns false when more encoded bytes are needed.
    private func feed(_ index: Int) throws -> Bool {
        var before = index - 1
        while before >= 0 {
            if let part = try stages[before].next({ ByteBuffer(bytes: $0) }) {
                try checkSizes()
                stages[before + 1].append(part)
                return true
            }
            before -= 1
        }
        return false
    }

    /// Compares the output of every stage with the bytes that arrived, so that bombs within bombs are found as well.
    private func checkSizes() throws {
        let (allowed, isHuge) = encodedCount.multipliedReportingOverflow(by: max(1, limits.ratio))
        guard !isHuge else { return }
        for stage in stages where stage.decodedCount > max(allowed, limits.bytesBeforeRatio) {
            throw DecodingFailure(
                coding: stage.name,
                reason: """
                    expands \(encodedCount) bytes to more than \(stage.decodedCount), which is over the limit of \
                    \(limits.ratio) times; raise the limit if the server can be trusted
                    """
            )
        }
    }
}
#endif
