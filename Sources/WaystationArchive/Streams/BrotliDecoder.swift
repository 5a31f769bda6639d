#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The functions of the Brotli decoder (RFC 7932), of a library that need not be installed.
package struct BrotliLibrary: Sendable {
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
    package static let shared = BrotliLibrary()

    fileprivate let create: Create
    fileprivate let destroy: Destroy
    fileprivate let decompress: Decompress
    fileprivate let errorCode: ErrorCode
    fileprivate let errorText: ErrorText

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

/// Brotli's decompressor; its window takes 16 MiB at most, because the large-window extension is off.
package final class BrotliDecoder {
    /// The data are not valid.
    package struct Damage: Error {
        /// What the library says, if anything.
        package let detail: String?
    }

    /// Whether the bytes that were decoded so far are a whole body.
    package private(set) var isComplete = false
    private let library: BrotliLibrary
    private let state: OpaquePointer

    /// Makes a decoder; nil if the library has no memory for it.
    package init?(_ library: BrotliLibrary) {
        guard let state = library.create(nil, nil, nil) else { return nil }
        self.library = library
        self.state = state
    }

    deinit { library.destroy(state) }

    /// Decodes as much as fits.
    ///
    /// - Returns: The numbers of bytes that were taken from `input` and written to `output`.
    /// - Throws: ``Damage`` for data that are not valid.
    package func step(
        from input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(Damage) -> (taken: Int, written: Int) {
        var available = input.count
        var room = output.count
        var next = input.bindMemory(to: UInt8.self).baseAddress
        var target = output.bindMemory(to: UInt8.self).baseAddress
        // 0: damaged, 1: complete, 2: needs input, 3: needs room.
        switch library.decompress(state, &available, &next, &room, &target, nil) {
        case 1: isComplete = true
        case 2, 3: break
        default: throw Damage(detail: library.errorText(library.errorCode(state)).map { String(cString: $0) })
        }
        return (input.count - available, output.count - room)
    }
}

/// A C library that is looked for at run time and stays loaded.
///
/// `@unchecked Sendable`: the handle is never changed or closed, and `dlsym` may be called from any thread.
package struct SharedLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// - Parameter name: The file's name with its major version, such as `libzstd.so.1`.
    package init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = handle
    }

    /// The function of a name; nil if the library has none.
    ///
    /// - Parameters:
    ///   - name: The function's name.
    ///   - type: Its type, which must be the one in the library's header.
    /// - Returns: The function, or nil.
    package func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let address = dlsym(handle, name) else { return nil }
        return unsafeBitCast(address, to: type)
    }
}
