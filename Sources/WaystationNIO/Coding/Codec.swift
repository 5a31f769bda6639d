#if NIO
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
