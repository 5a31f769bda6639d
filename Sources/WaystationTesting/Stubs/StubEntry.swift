import Foundation
import WaystationRules

/// A stub with its compiled pattern, and the number of requests that it was asked for.
struct StubEntry: Sendable {
    let stub: Stub
    var asked = 0
    /// Whether code of the test decides about requests.
    let callsTest: Bool
    private let table: RuleTable<Void>

    init(_ stub: Stub) throws(StubError) {
        self.stub = stub
        callsTest = stub.pattern.conditions.contains(where: \.callsTest)
        let methods = stub.pattern.method.map { Set([$0]) }
        let definition = RuleDefinition(stub.pattern.url, methods: methods, action: ())
        do { table = try RuleTable([definition]) } catch {
            throw .invalidPattern(stub, error.problems.first?.error ?? error)
        }
    }

    /// Whether the stub takes a request.
    func takes(_ request: StubbedRequest) -> Bool {
        guard let plain = request.ruleRequest, table.match(plain) != nil else { return false }
        return stub.pattern.conditions.allSatisfy { $0.mismatch(request) == nil }
    }

    /// The reasons why the stub does not take a request; empty if it takes it.
    func mismatches(_ request: StubbedRequest) -> [String] {
        guard let plain = request.ruleRequest else { return ["the URL is not absolute"] }
        let decision = table.decision(for: plain)
        guard case .unmatched(let closest) = decision else {
            return stub.pattern.conditions.compactMap { $0.mismatch(request) }
        }
        // Conditions on the body would hide the reason that the request is another one.
        return closest.first?.reasons.map(\.description) ?? ["the URL does not match"]
    }
}
