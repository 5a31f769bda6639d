#if Gateway
import Testing
import WaystationGateway
@testable import WaystationCLI
import WaystationStorage

@Suite("The options of waystation gateway")
struct GatewayOptionsTests {
    /// The options that a rules file may set, in the order of ``GatewaySettings``.
    private func members(_ options: GatewayOptions) -> [String] {
        [
            "\(options.port)", "\(options.isProxy)", "\(options.inspector)", "\(options.rewritesLinks)",
            "\(options.forwardsUnclaimed)", "\(options.passesForwardedFields)", "\(options.maximumBody.bytes)",
            "\(options.maximumConnections)", "\(options.requestTimeout)", "\(options.idleTimeout)",
            "\(options.tunnelTimeout)",
            "\(options.deliveryTimeout)",
        ]
    }

    @Test("are those of the rules file, each in its place")
    func settings() {
        var settings = GatewaySettings()
        settings.port = 8123
        settings.isProxy = true
        settings.hasInspector = true
        settings.rewritesLinks = true
        settings.forwardsUnclaimed = true
        settings.passesForwardedFields = true
        settings.maximumBody = .bytes(1)
        settings.maximumConnections = 2
        settings.requestTimeout = .seconds(3)
        settings.idleTimeout = .seconds(4)
        settings.tunnelTimeout = .seconds(5)
        settings.deliveryTimeout = .seconds(6)
        var options = GatewayOptions()
        options.take(settings)
        let times = (3...6).map { "\(Duration.seconds($0))" }
        #expect(members(options) == ["8123", "true", "true", "true", "true", "true", "1", "2"] + times)
    }

    @Test("are the defaults where the rules file has none")
    func defaults() {
        var options = GatewayOptions()
        options.take(GatewaySettings())
        #expect(members(options) == members(GatewayOptions()))
    }

    @Test("are switched on and off by the rules file", arguments: [true, false])
    func switches(value: Bool) {
        var options = GatewayOptions()
        (options.isProxy, options.inspector, options.rewritesLinks) = (!value, !value, !value)
        (options.forwardsUnclaimed, options.passesForwardedFields) = (!value, !value)
        var settings = GatewaySettings()
        (settings.isProxy, settings.hasInspector, settings.rewritesLinks) = (value, value, value)
        (settings.forwardsUnclaimed, settings.passesForwardedFields) = (value, value)
        options.take(settings)
        #expect(members(options)[1...5].allSatisfy { $0 == "\(value)" })
    }
}
#endif
