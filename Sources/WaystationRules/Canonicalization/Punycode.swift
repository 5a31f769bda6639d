/// The encoder of RFC 3492 §6.3, with the parameters of §5.
enum Punycode {
    /// The ASCII form of one label without its `xn--`, or `nil` when the label is too long.
    static func encode(_ label: [Unicode.Scalar]) -> [UInt8]? {
        var output = label.filter(\.isASCII).map { UInt8($0.value) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }

        var codePoint: UInt32 = 128
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        var handled = basicCount
        while handled < label.count {
            guard let next = label.lazy.map(\.value).filter({ $0 >= codePoint }).min() else { return nil }
            let (step, tooFar) = (next - codePoint).multipliedReportingOverflow(by: UInt32(handled) + 1)
            let (sum, overflow) = delta.addingReportingOverflow(step)
            guard !tooFar, !overflow else { return nil }
            delta = sum
            codePoint = next
            for scalar in label {
                if scalar.value < codePoint { delta += 1 }
                guard scalar.value == codePoint else { continue }
                appendVariableLength(delta, bias: bias, to: &output)
                bias = adapted(delta, count: UInt32(handled) + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            codePoint += 1
        }
        return output
    }

    private static func appendVariableLength(_ delta: UInt32, bias: UInt32, to output: inout [UInt8]) {
        var rest = delta
        var position: UInt32 = 36
        while true {
            let threshold = position <= bias ? 1 : position >= bias + 26 ? 26 : position - bias
            if rest < threshold { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(digit(rest))
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
    }

    /// RFC 3492 §6.1.
    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias: UInt32 = 0
        while delta > 455 {
            delta /= 35
            bias += 36
        }
        return bias + 36 * delta / (delta + 38)
    }
}
