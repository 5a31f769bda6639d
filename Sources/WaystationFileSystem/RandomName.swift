/// Random names for files that are never looked up by name.
package enum RandomName {
    /// Makes a name of 32 hexadecimal digits.
    package static func make() -> String {
        [UInt64.random(in: 0 ... .max), .random(in: 0 ... .max)].map { value in
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Whether a name has the form of those that ``make()`` returns.
    package static func isPossible(_ name: String) -> Bool {
        name.utf8.count == 32
            && name.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}
