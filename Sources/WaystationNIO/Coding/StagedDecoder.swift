#if NIO
import Foundation
import NIOCore

/// Removes one coding after the other.
struct StagedDecoder: ContentDecoder {
    /// The number of bytes that one call hands from coding to coding before it returns without a result.
    static let workPerCall = 256 << 10

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
#endif
