import Foundation

@testable import WaystationHTTP

extension CookieJar {
    /// A jar after responses from several URLs, one second apart.
    init(_ responses: [(url: String, field: String)], rules: CookieRules = CookieRules(), from now: Date = epoch) {
        self.init(rules: rules)
        for (index, response) in responses.enumerated() {
            store(response.field, from: WaystationHTTPTests.url(response.url), now: now + Double(index))
        }
    }

    /// The names of the cookies that are sent.
    func names(for text: String, context: CookieContext = .firstParty, now: Date = epoch + 1_000) -> [String] {
        cookies(for: WaystationHTTPTests.url(text), context: context, now: now).map(\.name)
    }
}

extension Cookie {
    /// A cookie with default values for the parts that do not matter.
    static func plain(
        _ name: String,
        domain: String = "example.com",
        isHostOnly: Bool = true,
        path: String = "/",
        expires: Date? = nil,
        isSecure: Bool = false,
        creation: Date = epoch
    ) throws -> Cookie {
        try Cookie(
            name: name,
            value: "v",
            domain: domain,
            isHostOnly: isHostOnly,
            path: path,
            expires: expires,
            isSecure: isSecure,
            creation: creation
        )
    }
}

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
