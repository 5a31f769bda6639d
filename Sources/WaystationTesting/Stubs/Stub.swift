import Waystation
import WaystationHTTP

/// The answers to the requests that a pattern takes, and how often they may and must be asked for.
///
/// ```swift
/// Stub(.get("https://api.example/weather"), .json(["celsius": 21]))
/// Stub(.get("https://api.example/news"), .status(503), .ok("all quiet"))
/// Stub(.delete("https://api.example/orders/*"), .status(204)).once()
/// ```
public struct Stub: Sendable {
    private enum Answers: Sendable {
        /// One after the other; the last one answers all further requests.
        case listed([StubAnswer])
        case made(@Sendable (StubbedRequest) throws -> StubAnswer)
    }

    let pattern: RequestPattern
    let location: RuleLocation
    private let answers: Answers
    /// How often the stub may be asked, and must have been asked at the end of the test.
    private(set) var count: ClosedRange<Int> = 0...Int.max

    /// Makes a stub that gives these answers, one after the other; the last one answers all further requests.
    ///
    /// - Parameters:
    ///   - pattern: The requests.
    ///   - answers: The answers in their order. A stub without answers responds with `200 OK` and an empty body.
    ///   - fileID: The file of the stub, for messages.
    ///   - line: The line of the stub, for messages.
    public init(_ pattern: RequestPattern, _ answers: StubAnswer..., fileID: String = #fileID, line: Int = #line) {
        self.pattern = pattern
        location = RuleLocation(fileID: fileID, line: line)
        self.answers = .listed(answers.isEmpty ? [.status(200)] : answers)
    }

    /// Makes a stub whose answers are made for each request.
    ///
    /// - Parameters:
    ///   - pattern: The requests.
    ///   - fileID: The file of the stub, for messages.
    ///   - line: The line of the stub, for messages.
    ///   - answer: Returns the answer to a request; called on any thread. An error fails the load with an explanation.
    public init(
        _ pattern: RequestPattern,
        fileID: String = #fileID,
        line: Int = #line,
        answer: @escaping @Sendable (StubbedRequest) throws -> StubAnswer
    ) {
        self.pattern = pattern
        location = RuleLocation(fileID: fileID, line: line)
        answers = .made(answer)
    }

    /// The answer to a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - asked: The number of requests that were answered before.
    /// - Returns: The answer.
    /// - Throws: The error of the test's own closure.
    func answer(to request: StubbedRequest, after asked: Int) throws -> StubAnswer {
        switch answers {
        case .listed(let answers): answers[min(asked, answers.count - 1)]
        case .made(let make): try make(request)
        }
    }

    /// The answer to a request, if it is one whole response that no code of the test makes.
    func resident(for request: StubbedRequest, after asked: Int) -> ResidentResponse? {
        guard case .listed(let answers) = answers else { return nil }
        return answers[min(asked, answers.count - 1)].resident(for: request)
    }

    /// The same stub, which must be asked exactly this number of times.
    public func times(_ count: Int) -> Stub { times(count...count) }

    /// The same stub, which must be asked a number of times within this range.
    public func times(_ range: ClosedRange<Int>) -> Stub {
        var stub = self
        stub.count = range
        return stub
    }

    /// The same stub, which must be asked exactly once.
    public func once() -> Stub { times(1) }

    /// The same stub, which must be asked this number of times or more.
    public func atLeast(_ count: Int) -> Stub { times(count...Int.max) }

    /// The same stub, which must not be asked: a request that it takes fails.
    public func never() -> Stub { times(0) }
}

extension Stub: CustomStringConvertible {
    /// The pattern, and the place of the stub in the source.
    public var description: String { "\(pattern) (\(location))" }

    /// The number of requests that is expected, as words.
    var expectedCount: String {
        switch (count.lowerBound, count.upperBound) {
        case (0, 0): "not at all"
        case (1, 1): "once"
        case (let lower, Int.max): "\(lower) times or more"
        case (let lower, let upper) where lower == upper: "\(lower) times"
        case (0, 1): "at most once"
        case (0, let upper): "at most \(upper) times"
        case (let lower, let upper): "\(lower) to \(upper) times"
        }
    }
}

/// Collects the stubs of a closure.
@resultBuilder
public enum StubsBuilder {
    /// One stub.
    public static func buildExpression(_ stub: Stub) -> [Stub] { [stub] }
    /// Several stubs, such as those that tests share.
    public static func buildExpression(_ stubs: [Stub]) -> [Stub] { stubs }
    /// All stubs, in their order.
    public static func buildBlock(_ parts: [Stub]...) -> [Stub] { parts.flatMap(\.self) }
    /// The stubs of an `if` without an `else`.
    public static func buildOptional(_ part: [Stub]?) -> [Stub] { part ?? [] }
    /// The stubs of one branch.
    public static func buildEither(first part: [Stub]) -> [Stub] { part }
    /// The stubs of the other branch.
    public static func buildEither(second part: [Stub]) -> [Stub] { part }
    /// The stubs of a loop.
    public static func buildArray(_ parts: [[Stub]]) -> [Stub] { parts.flatMap(\.self) }
}
