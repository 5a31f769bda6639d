import Foundation
import Testing
import WaystationStorage

@Suite("libcrypto")
struct ExitTests {
    @Test("seals values while the process exits, when its own functions for the exit would have been called")
    func exits() async {
        await #expect(processExitsWith: .exitCode(7)) {
            // The process calls these functions from the last one to the first, and libcrypto registers its own at its first
            // use.
            atexit {
                let key = [UInt8](repeating: 1, count: 32)
                _exit(Sealing.seal(Data("value".utf8), key: key, context: Data()) == nil ? 1 : 7)
            }
            let sealed = Sealing.seal(Data("value".utf8), key: [UInt8](repeating: 1, count: 32), context: Data())
            exit(sealed == nil ? 2 : 0)
        }
    }
}
