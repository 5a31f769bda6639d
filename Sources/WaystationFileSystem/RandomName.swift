/// Names for files that nobody asks for by name.
package enum RandomName {
    /// 32 hexadecimal digits.
    package static func make() -> String {
        [UInt64.random(in: 0 ... .max), .random(in: 0 ... .max)].map { value in
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
