#if Gateway
import Foundation
import FoundationNetworking
import Logging
import Testing
import Waystation

@testable import WaystationGateway
import WaystationTestSupport

@Suite("The end of a gateway's authority")
struct ExpiryTests {
    @Test("is logged once, three days before, and a request after it is refused")
    func warning() throws {
        let folder = try TemporaryFolder()
        let rules: [Rule] = [.allow("https://shop.example/**", via: .nowhere)]
        let authority = try CertificateAuthority.open(in: folder.url.appending(path: "authority"), for: rules)
        let messages = MessageLog.Messages()
        var options = GatewayOptions()
        options.authority = authority
        options.logger = Logger(label: "test") { _ in MessageLog(messages: messages) }
        let interceptor = try Interceptor { $0.rules = rules }
        let serving = GatewayServing(ClientLoads(interceptor, .ephemeral), cookies: nil, options, port: 1) { _ in nil }

        _ = try serving.securing("shop.example", port: 443, now: authority.expires - 4 * 86_400)
        #expect(messages.all.isEmpty)
        for _ in 0..<2 { _ = try serving.securing("shop.example", port: 443, now: authority.expires - 2 * 86_400) }
        #expect(messages.all.count == 1)
        #expect(messages.all.first?.hasPrefix("warning: the gateway's authority is valid only until") == true)
        #expect(throws: Refusal.self) {
            try serving.securing("shop.example", port: 443, now: authority.expires + 8 * 86_400)
        }
    }
}
#endif
