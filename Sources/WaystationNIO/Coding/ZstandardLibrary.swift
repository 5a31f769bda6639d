#if NIO
import WaystationArchive

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
#endif
