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

    /// The codings that can be removed, in the order in which `Accept-Encoding` offers them.
    ///
    /// `br` and `zstd` are included when their C libraries are installed.
    static var available: [String] {
        var codings = ["deflate", "gzip"]
        if BrotliLibrary.shared != nil { codings.append("br") }
        if ZstandardLibrary.shared != nil { codings.append("zstd") }
        return codings
    }

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
            guard let codec = codec(name) else { return nil }
            stages.append(DecodingStage(codec))
        }
        return StagedDecoder(stages, limits: limits)
    }

    private static func codec(_ name: String) -> (any Codec)? {
        switch name {
        // RFC 9110 §8.4.1.3: x-gzip is the same as gzip.
        case "gzip", "x-gzip": ZlibCodec(.gzip)
        case "deflate": ZlibCodec(.deflate)
        case "br": BrotliLibrary.shared.flatMap(BrotliCodec.init)
        case "zstd": ZstandardLibrary.shared.flatMap(ZstandardCodec.init)
        default: nil
        }
    }
}

/// Brotli (RFC 7932), by the system's library.
final class BrotliCodec: Codec {
    let name = "br"
    var isComplete: Bool { decoder.isComplete }
    private let decoder: BrotliDecoder

    init?(_ library: BrotliLibrary) {
        guard let decoder = BrotliDecoder(library) else { return nil }
        self.decoder = decoder
    }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> CodecProgress {
        guard !isComplete else {
            guard input.isEmpty else { throw CodecError.trailingBytes }
            return CodecProgress(taken: 0, written: 0)
        }
        do throws(BrotliDecoder.Damage) {
            let (taken, written) = try decoder.step(from: input, into: output)
            return CodecProgress(taken: taken, written: written)
        } catch {
            throw CodecError.damaged(error.detail)
        }
    }
}

/// gzip (RFC 1952) and deflate (RFC 1950), by the system's zlib.
///
/// Many servers send deflate without zlib's header (RFC 1951); both forms are accepted, as libcurl does.
final class ZlibCodec: Codec {
    enum Format {
        case gzip
        case deflate
    }

    let name: String
    private(set) var isComplete = false

    private let format: Format
    private var inflater: Inflater?

    init(_ format: Format) {
        self.format = format
        name = format == .gzip ? "gzip" : "deflate"
    }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> CodecProgress {
        guard !isComplete else {
            guard input.isEmpty else { throw CodecError.trailingBytes }
            return CodecProgress(taken: 0, written: 0)
        }
        do {
            guard let inflater = try inflater(for: input) else { return CodecProgress(taken: 0, written: 0) }
            guard let step = try inflater.step(from: input, into: output) else {
                throw CodecError.damaged(inflater.complaint)
            }
            isComplete = step.isAtEnd
            return CodecProgress(taken: step.consumed, written: step.produced)
        } catch is ZipError { throw CodecError.outOfMemory }
    }

    /// Zlib's decompressor; nil while too few bytes have arrived to recognise the form of the data.
    private func inflater(for input: UnsafeRawBufferPointer) throws(ZipError) -> Inflater? {
        if let inflater { return inflater }
        let framing: Inflater.Framing
        switch format {
        case .gzip: framing = .gzip
        case .deflate:
            guard input.count >= 2 else { return nil }
            framing = Self.isZlibHeader(input[0], input[1]) ? .zlib : .none
        }
        let made = try Inflater(framing)
        inflater = made
        return made
    }

    /// RFC 1950 §2.2: method 8, a window of 32 KiB at most, and a checksum over both bytes.
    private static func isZlibHeader(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
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

/// The functions of the Zstandard decoder (RFC 8878).
struct ZstandardLibrary: Sendable {
    typealias Create = @convention(c) @Sendable () -> OpaquePointer?
    typealias Free = @convention(c) @Sendable (OpaquePointer?) -> Int
    typealias SetParameter = @convention(c) @Sendable (OpaquePointer?, Int32, Int32) -> Int
    typealias Decompress =
        @convention(c) @Sendable (OpaquePointer?, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
    typealias IsError = @convention(c) @Sendable (Int) -> UInt32
    typealias ErrorName = @convention(c) @Sendable (Int) -> UnsafePointer<CChar>?

    /// The library, if it is installed.
    static let shared = ZstandardLibrary()

    let create: Create
    let free: Free
    let setParameter: SetParameter
    let decompress: Decompress
    let isError: IsError
    let errorName: ErrorName

    private init?() {
        guard let library = SharedLibrary("libzstd.so.1"),
            let create = library.function("ZSTD_createDCtx", as: Create.self),
            let free = library.function("ZSTD_freeDCtx", as: Free.self),
            let setParameter = library.function("ZSTD_DCtx_setParameter", as: SetParameter.self),
            let decompress = library.function("ZSTD_decompressStream", as: Decompress.self),
            let isError = library.function("ZSTD_isError", as: IsError.self),
            let errorName = library.function("ZSTD_getErrorName", as: ErrorName.self)
        else { return nil }
        self.create = create
        self.free = free
        self.setParameter = setParameter
        self.decompress = decompress
        self.isError = isError
        self.errorName = errorName
    }
}

/// Zstandard.
///
/// A body may consist of several frames (RFC 8878 §3).
final class ZstandardCodec: Codec {
    let name = "zstd"
    private(set) var isComplete = false
    private let library: ZstandardLibrary
    private let context: OpaquePointer

    /// `ZSTD_d_windowLogMax`.
    private static let windowLogMax: Int32 = 100
    /// RFC 9659 §3: a window of more than 8 MiB must not be used for a content coding.
    private static let largestWindowLog: Int32 = 23

    init?(_ library: ZstandardLibrary) {
        guard let context = library.create() else { return nil }
        self.library = library
        self.context = context
        let result = library.setParameter(context, Self.windowLogMax, Self.largestWindowLog)
        // All properties are set, so `deinit` frees the context.
        guard library.isError(result) == 0 else { return nil }
    }

    deinit { _ = library.free(context) }

    /// `ZSTD_inBuffer` and `ZSTD_outBuffer`: an address, its size, and the position that was reached.
    private struct Span {
        var start: UnsafeMutableRawPointer?
        var size: Int
        var position: Int
    }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> CodecProgress {
        // With neither input nor bytes to flush, the library would expect the start of another frame.
        if input.isEmpty, isComplete { return CodecProgress(taken: 0, written: 0) }
        var source = Span(start: UnsafeMutableRawPointer(mutating: input.baseAddress), size: input.count, position: 0)
        var target = Span(start: output.baseAddress, size: output.count, position: 0)
        let result = library.decompress(context, &target, &source)
        guard library.isError(result) == 0 else {
            throw CodecError.damaged(library.errorName(result).map { String(cString: $0) })
        }
        // 0: a frame is complete and all its bytes were written.
        isComplete = result == 0
        return CodecProgress(taken: source.position, written: target.position)
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

    private let codec: any Codec
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    private var input = ByteBuffer()
    private var hasInput = false

    init(_ codec: any Codec) { self.codec = codec }

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

/// One content coding: the edge to a C library.
protocol Codec: AnyObject {
    /// The name of the coding, for errors.
    var name: String { get }
    /// Whether the bytes that were decoded so far are a whole encoded body.
    var isComplete: Bool { get }
    /// Decodes as much as fits.
    ///
    /// - Returns: The numbers of bytes that were taken from `input` and written to `output`. When both are 0, more
    ///   input is needed.
    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> CodecProgress
}

/// The numbers of bytes that one call of a codec took and wrote.
struct CodecProgress: Equatable {
    var taken: Int
    var written: Int
}

/// Why a codec cannot decode its input.
struct CodecError: Error, Equatable {
    /// The second half of a sentence that starts with the name of the coding.
    var reason: String

    static let trailingBytes = CodecError(
        reason: "is followed by bytes that do not belong to it; the server must not send them"
    )

    /// The error of bytes that do not follow the coding; `detail` is what its library says, if anything.
    static func damaged(_ detail: String?) -> CodecError {
        let detail = detail.map { " (\($0))" } ?? ""
        return CodecError(reason: "is damaged\(detail); load the body again, or without this coding")
    }

    static let outOfMemory = CodecError(reason: "needs more memory than there is")
}
#endif
