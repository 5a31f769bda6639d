import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import WaystationPacks

@Suite("Requests of a file server")
struct ServerWishTests {
    private let fixture: UpdateFixture

    init() throws { fixture = try UpdateFixture() }

    @Test(
        "Retry-After of an artefact delays the next check, and nothing else is fetched instead",
        arguments: [503, 429]
    )
    func retryAfter(_ status: Int) async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try fixture.publish("1.1")
        try fixture.offerPatch(from: "1.0", to: "1.1")
        fixture.server.refusals.withLock { $0["1.0-1.1.patch"] = (status, [.retryAfter: "4000"]) }
        let report = try await updater.check(isForced: true)
        guard case .failed(let error)? = report.outcomes.first?.kind else {
            Issue.record("\(report)")
            return
        }
        #expect(error.code == .refused)
        #expect(fixture.server.fetched == ["1.0.zip", "1.0-1.1.patch"])
        fixture.server.refusals.withLock { $0 = [:] }
        fixture.home.advance(3900)
        #expect(try await updater.check().throttledUntil != nil)
        fixture.home.advance(200)
        let next = try await updater.check()
        // The patch itself is not recorded as bad.
        guard case .updated(.contentPatch, _, _)? = next.outcomes.first?.kind else {
            Issue.record("\(next)")
            return
        }
    }

    @Test("A download waits until the default route uses an interface that the offer allows")
    func network() async throws {
        var offer = try fixture.publish("1.0")
        offer.network = .unmetered
        let conditional = offer
        fixture.server.offers.withLock { $0 = [conditional] }
        var mobile = try NetworkTree()
        try mobile.interface("wwan0")
        try mobile.route4("wwan0")
        var wired = try NetworkTree()
        try wired.interface("eth0")
        try wired.route4("eth0")
        let probes = try [mobile, NetworkTree(), wired].map { DefaultRouteProbe(files: $0.files) }
        for (probe, title) in zip(probes, [nil, nil, "<title>1.0</title>"]) {
            let report = try await fixture.updater { $0.networkProbe = probe }.check(isForced: true)
            #expect(try fixture.title() == title, "\(report)")
            if title == nil, case .postponed(.network(.unmetered))? = report.outcomes.first?.kind { continue }
            #expect(title != nil, "\(report)")
        }
        #expect(fixture.server.fetched == ["1.0.zip"])
    }

    @Test(
        "A length that is announced only with the file is compared with the free disk space before anything is written"
    )
    func announcedLength() async throws {
        var offer = try fixture.publish("1.0")
        offer.archive?.size = nil
        let unsized = offer
        fixture.server.offers.withLock { $0 = [unsized] }
        fixture.server.refusals.withLock { $0["1.0.zip"] = (200, [.contentLength: "1152921504606846976"]) }
        let report = try await fixture.updater().check(isForced: true)
        guard case .failed(let error)? = report.outcomes.first?.kind else {
            Issue.record("\(report)")
            return
        }
        #expect(error.code == .noSpace)
        #expect(error.message.contains("1152921504606846976 bytes"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.home.layout.downloads).isEmpty)
    }
}
