#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One content coding (RFC 9110 §8.4.1) in the direction of decoding: the edge to a C library.
///
/// The engine on SwiftNIO, and with it a gateway, decodes the bodies of live loads by these; imports, and the recordings
/// of the testing kit, decode recorded bodies and compressed files by the same ones.
package protocol ContentCodec: AnyObject {
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

/// The content codings that can be removed.
package enum ContentCodecs {
    /// The names, in the order in which `Accept-Encoding` offers them.
    ///
    /// `br` and `zstd` are included when their C libraries are installed.
    package static var available: [String] {
        var codings = ["deflate", "gzip"]
        if BrotliLibrary.shared != nil { codings.append("br") }
        if ZstandardLibrary.shared != nil { codings.append("zstd") }
        return codings
    }

    /// Makes the codec of a coding; nil if the coding is unknown or its library is missing.
    ///
    /// - Parameter name: The coding's name in lower case.
    /// - Returns: The codec, or nil.
    package static func make(_ name: String) -> (any ContentCodec)? {
        switch name {
        // RFC 9110 §8.4.1.3: x-gzip is the same as gzip.
        case "gzip", "x-gzip": ZlibCodec(.gzip)
        case "deflate": ZlibCodec(.deflate)
        case "br": BrotliLibrary.shared.flatMap(BrotliCodec.init)
        case "zstd": ZstandardLibrary.shared.flatMap { ZstandardCodec($0) }
        default: nil
        }
    }
}

extension ContentCodec {
    /// The progress of a codec that is complete: none, and an error if there are more bytes.
    fileprivate func ended(before input: UnsafeRawBufferPointer) throws -> CodecProgress {
        guard input.isEmpty else { throw CodecError.trailingBytes }
        return CodecProgress(taken: 0, written: 0)
    }
}

/// The numbers of bytes that one call of a codec took and wrote.
package struct CodecProgress: Equatable {
    package var taken: Int
    package var written: Int

    package init(taken: Int, written: Int) {
        self.taken = taken
        self.written = written
    }
}

/// Why a codec cannot decode its input.
package struct CodecError: Error, Equatable {
    /// The second half of a sentence that starts with the name of the coding.
    package var reason: String

    package static let trailingBytes = CodecError(
        reason: "is followed by bytes that do not belong to it; the server must not send them"
    )

    /// The error of bytes that do not follow the coding; `detail` is what its library says, if anything.
    package static func damaged(_ detail: String?) -> CodecError {
        let detail = detail.map { " (\($0))" } ?? ""
        return CodecError(reason: "is damaged\(detail); load the body again, or without this coding")
    }

    package static let outOfMemory = CodecError(reason: "needs more memory than there is")
}

/// Brotli (RFC 7932), by the system's library.
package final class BrotliCodec: ContentCodec {
    package let name = "br"
    package var isComplete: Bool { decoder.isComplete }
    private let decoder: BrotliDecoder

    package init?(_ library: BrotliLibrary) {
        guard let decoder = BrotliDecoder(library) else { return nil }
        self.decoder = decoder
    }

    package func decode(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> CodecProgress {
        guard !isComplete else { return try ended(before: input) }
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
package final class ZlibCodec: ContentCodec {
    package enum Format: Sendable {
        case gzip
        case deflate
    }

    package let name: String
    package private(set) var isComplete = false

    private let format: Format
    private var inflater: Inflater?

    package init(_ format: Format) {
        self.format = format
        name = format == .gzip ? "gzip" : "deflate"
    }

    package func decode(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> CodecProgress {
        guard !isComplete else { return try ended(before: input) }
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
    package static func isZlibHeader(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
    }
}

/// The functions of the Zstandard decoder (RFC 8878), of a library that need not be installed.
package struct ZstandardLibrary: Sendable {
    typealias Create = @convention(c) @Sendable () -> OpaquePointer?
    typealias Free = @convention(c) @Sendable (OpaquePointer?) -> Int
    typealias SetParameter = @convention(c) @Sendable (OpaquePointer?, Int32, Int32) -> Int
    typealias Decompress =
        @convention(c) @Sendable (OpaquePointer?, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
    typealias LoadDictionary = @convention(c) @Sendable (OpaquePointer?, UnsafeRawPointer?, Int) -> Int
    typealias IsError = @convention(c) @Sendable (Int) -> UInt32
    typealias ErrorName = @convention(c) @Sendable (Int) -> UnsafePointer<CChar>?

    /// The library, if it is installed.
    package static let shared = ZstandardLibrary()

    fileprivate let create: Create
    fileprivate let free: Free
    fileprivate let setParameter: SetParameter
    fileprivate let decompress: Decompress
    fileprivate let loadDictionary: LoadDictionary
    fileprivate let isError: IsError
    fileprivate let errorName: ErrorName

    private init?() {
        guard let library = SharedLibrary("libzstd.so.1"),
            let create = library.function("ZSTD_createDCtx", as: Create.self),
            let free = library.function("ZSTD_freeDCtx", as: Free.self),
            let setParameter = library.function("ZSTD_DCtx_setParameter", as: SetParameter.self),
            let decompress = library.function("ZSTD_decompressStream", as: Decompress.self),
            let loadDictionary = library.function("ZSTD_DCtx_loadDictionary", as: LoadDictionary.self),
            let isError = library.function("ZSTD_isError", as: IsError.self),
            let errorName = library.function("ZSTD_getErrorName", as: ErrorName.self)
        else { return nil }
        self.create = create
        self.free = free
        self.setParameter = setParameter
        self.decompress = decompress
        self.loadDictionary = loadDictionary
        self.isError = isError
        self.errorName = errorName
    }
}

/// Zstandard.
///
/// A body may consist of several frames (RFC 8878 §3).
package final class ZstandardCodec: ContentCodec {
    package let name = "zstd"
    package private(set) var isComplete = false
    private let library: ZstandardLibrary
    private let context: OpaquePointer

    /// `ZSTD_d_windowLogMax`.
    private static let windowLogMax: Int32 = 100
    /// RFC 9659 §3: a window of more than 8 MiB must not be used for a content coding.
    package static let largestWindowLog: Int32 = 23

    /// Makes a decoder; nil if the library has no memory for it, or does not take the dictionary.
    ///
    /// - Parameters:
    ///   - library: The library.
    ///   - windowLog: The binary logarithm of the largest window in bytes; by default that of a content coding, 8 MiB.
    ///   - dictionary: The dictionary of all frames; none by default. The library copies it.
    package init?(
        _ library: ZstandardLibrary,
        windowLog: Int32 = ZstandardCodec.largestWindowLog,
        dictionary: [UInt8] = []
    ) {
        guard let context = library.create() else { return nil }
        self.library = library
        self.context = context
        let result = library.setParameter(context, Self.windowLogMax, windowLog)
        // All properties are set, so `deinit` frees the context.
        guard library.isError(result) == 0 else { return nil }
        guard !dictionary.isEmpty else { return }
        let loaded = dictionary.withUnsafeBytes { library.loadDictionary(context, $0.baseAddress, $0.count) }
        guard library.isError(loaded) == 0 else { return nil }
    }

    deinit { _ = library.free(context) }

    /// `ZSTD_inBuffer` and `ZSTD_outBuffer`: an address, its size, and the position that was reached.
    private struct Span {
        var start: UnsafeMutableRawPointer?
        var size: Int
        var position: Int
    }

    package func decode(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> CodecProgress {
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
