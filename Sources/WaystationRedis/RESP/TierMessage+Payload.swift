#if Redis
import Foundation
import NIOCore
import WaystationSharing

extension TierMessage {
    /// Reads a message as the script that publishes writes it: its number, a line feed, and the content.
    init?(_ payload: ByteBuffer) {
        let view = payload.readableBytesView
        guard let end = view.prefix(21).firstIndex(of: UInt8(ascii: "\n")),
            let number = UInt64(String(decoding: view[..<end], as: UTF8.self))
        else { return nil }
        self.init(number: number, content: Data(view[(end + 1)...]))
    }
}
#endif
