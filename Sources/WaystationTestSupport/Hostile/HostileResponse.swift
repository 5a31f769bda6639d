/// The bytes that a hostile server sends in answer to one request.
///
/// A generator of random numbers determines them, so the same seed gives the same response again.
public struct HostileResponse: Sendable {
    /// One step of the server.
    public enum Step: Sendable, Equatable {
        /// Send these bytes.
        case send([UInt8])
        /// Send the same bytes so many times, or until the client closes the connection.
        case flood([UInt8], times: Int)
    }

    /// The action of the server after the last step.
    public enum Ending: Sendable {
        /// It closes the connection.
        case close
        /// The response is complete: the connection stays open for the next request.
        case keep
        /// The response is not complete, and the server sends no more: only the client's time-out ends the load.
        case stall
    }

    /// The group of the response, for statistics.
    public var kind: String
    /// The parts that the server sends, in order.
    public var steps: [Step]
    /// The action of the server then.
    public var ending = Ending.close
    /// Whether the body would never end, so that the load is only over when the client cancels it.
    public var isEndless = false

    init(_ kind: String, _ steps: [Step], _ ending: Ending = .close) {
        self.kind = kind
        self.steps = steps
        self.ending = ending
    }

    /// The bytes of all steps; of a flood, one repetition.
    public var bytes: [UInt8] {
        steps.flatMap { step in
            switch step {
            case .send(let bytes), .flood(let bytes, _): bytes
            }
        }
    }

    /// Cuts some of the steps into several writes, so that a parser is stopped at any place.
    func cut(using random: inout some RandomNumberGenerator) -> HostileResponse {
        guard Bool.random(using: &random) else { return self }
        var result = self
        result.steps = steps.flatMap { step in
            guard case .send(let bytes) = step else { return [step] }
            return Self.parts(of: bytes, using: &random).map { .send($0) }
        }
        return result
    }

    /// At most eight parts of bytes.
    private static func parts(of bytes: [UInt8], using random: inout some RandomNumberGenerator) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let isLast = parts.count == 7 || Int.random(in: 0..<3, using: &random) == 0
            let count = isLast ? rest.count : Int.random(in: 1...rest.count, using: &random)
            parts.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return parts
    }
}

/// Changes a few bytes: each is replaced, removed or inserted.
public enum Damage {
    /// Damages bytes in one to four places.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - random: Determines the damage.
    /// - Returns: The damaged bytes.
    public static func damaged(_ bytes: [UInt8], using random: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = .random(in: 0...255, using: &random)
            case 2: bytes.remove(at: place)
            default: bytes.insert(.random(in: 0...255, using: &random), at: place)
            }
        }
        return bytes
    }
}

extension RandomNumberGenerator {
    /// One of the choices.
    mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[Int.random(in: choices.indices, using: &self)]
    }

    /// A number of a range.
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// True once in `count` times.
    mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

extension HostileResponse.Step {
    /// Text as bytes.
    static func text(_ text: String) -> Self { .send(Array(text.utf8)) }

    /// Text that is sent again and again, 64 MiB of it: more than any limit of a client.
    static func flood(_ text: String) -> Self {
        // Larger writes keep the server from being slower than its client.
        let part = String(repeating: text, count: max(1, 4096 / max(1, text.utf8.count)))
        return .flood(Array(part.utf8), times: (64 << 20) / max(1, part.utf8.count))
    }
}
