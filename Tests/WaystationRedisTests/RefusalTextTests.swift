#if Redis
import Testing
import WaystationHTTP
import WaystationStorage

@testable import WaystationRedis

@Suite("The text of a Redis error reply")
struct RefusalTextTests {
    @Test("is shown escaped and cut, without the arguments of a command")
    func shown() {
        let text = "ERR \u{1B}[2J\nforged line " + String(repeating: "a", count: 1 << 20) + ", with args 'secret'"
        let error = TierError(refusal: text)
        #expect(error.message.hasPrefix("Redis refuses: ERR \\u{1B}[2J\\nforged line aaa"))
        #expect(error.message.count < 200)
        #expect(error.message.unicodeScalars.allSatisfy { !$0.isHidden })
        #expect(TierError(refusal: "NOPERM this user has no permissions, secret").message.contains("secret") == false)
    }

    @Test("that another error or an event repeats is as safe")
    func repeated() {
        let text = "\u{1B}[2J\n" + String(repeating: "a", count: 1 << 20)
        for shown in ["\(TierError(.malformed, text))", "\(TierEvent(.damaged, text))"] {
            #expect(shown.count < 3_000)
            #expect(shown.unicodeScalars.allSatisfy { !$0.isHidden })
        }
    }
}
#endif
