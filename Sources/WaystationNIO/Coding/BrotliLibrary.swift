#if NIO
/// The functions of the Brotli decoder (RFC 7932).
struct BrotliLibrary: Sendable {
    typealias Create =
        @convention(c) @Sendable (OpaquePointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> OpaquePointer?
    typealias Destroy = @convention(c) @Sendable (OpaquePointer?) -> Void
    typealias Decompress =
        @convention(c) @Sendable (
            OpaquePointer?, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>,
            UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int>?
        ) -> Int32
    typealias ErrorCode = @convention(c) @Sendable (OpaquePointer?) -> Int32
    typealias ErrorText = @convention(c) @Sendable (Int32) -> UnsafePointer<CChar>?

    /// The library, if it is installed.
    static let shared = BrotliLibrary()

    let create: Create
    let destroy: Destroy
    let decompress: Decompress
    let errorCode: ErrorCode
    let errorText: ErrorText

    private init?() {
        guard let library = SharedLibrary("libbrotlidec.so.1"),
            let create = library.function("BrotliDecoderCreateInstance", as: Create.self),
            let destroy = library.function("BrotliDecoderDestroyInstance", as: Destroy.self),
            let decompress = library.function("BrotliDecoderDecompressStream", as: Decompress.self),
            let errorCode = library.function("BrotliDecoderGetErrorCode", as: ErrorCode.self),
            let errorText = library.function("BrotliDecoderErrorString", as: ErrorText.self)
        else { return nil }
        self.create = create
        self.destroy = destroy
        self.decompress = decompress
        self.errorCode = errorCode
        self.errorText = errorText
    }
}

/// Brotli; its window takes 16 MiB at most, because the large-window extension is off.
final class BrotliCodec: Codec {
    let name = "br"
    private(set) var isComplete = false
    private let library: BrotliLibrary
    private let state: OpaquePointer

    init?(_ library: BrotliLibrary) {
        guard let state = library.create(nil, nil, nil) else { return nil }
        self.library = library
        self.state = state
    }

    deinit { library.destroy(state) }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> CodecProgress {
        guard !isComplete else {
            guard input.isEmpty else { throw CodecError.trailingBytes }
            return CodecProgress(taken: 0, written: 0)
        }
        var available = input.count
        var room = output.count
        var next = input.bindMemory(to: UInt8.self).baseAddress
        var target = output.bindMemory(to: UInt8.self).baseAddress
        // 0: damaged, 1: complete, 2: needs input, 3: needs room.
        switch library.decompress(state, &available, &next, &room, &target, nil) {
        case 1: isComplete = true
        case 2, 3: break
        default: throw CodecError.damaged(library.errorText(library.errorCode(state)).map { String(cString: $0) })
        }
        return CodecProgress(taken: input.count - available, written: output.count - room)
    }
}
#endif
