#if NIO
import WaystationArchive

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
#endif
