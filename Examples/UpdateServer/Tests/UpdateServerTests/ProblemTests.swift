import HTTPTypes
import Testing
import WaystationPacks

@testable import UpdateServer

@Suite("Refusals")
struct ProblemTests {
    @Test(
        "have the status that tells a client whose fault it is, and whether to try again",
        arguments: [
            (PackError.Code.notInstalled, 404), (.invalidArgument, 409), (.damaged, 422), (.fileSystem, 500),
            (.notDurable, 500), (.network, 502), (.refused, 502), (.busy, 503), (.noSpace, 507),
        ]
    )
    func status(code: PackError.Code, expected: Int) {
        #expect(code.status.code == expected)
    }
}
