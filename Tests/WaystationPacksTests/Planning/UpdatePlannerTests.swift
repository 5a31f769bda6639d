import Foundation
import Testing

@testable import WaystationPacks

@Suite struct UpdatePlannerTests {
    private static func digest(_ text: String) -> PackDigest { PackDigest(of: Data(text.utf8)) }

    private static func version(_ text: String) -> PackVersion? { PackVersion(text) }

    /// An installed version, with its zip.
    private func pack(_ text: String) throws -> LocalPack {
        LocalPack(
            try Sample.version(text),
            manifest: Self.digest("manifest \(text)"),
            archiveDigests: [Self.digest("zip \(text)")],
            isArchiveKept: true
        )
    }

    private func artifact(_ name: String, _ size: Int?) throws -> Artifact {
        Artifact(url: try Sample.url("https://cdn.example/\(name)"), size: size)
    }

    /// An offer of version 2.0 as a whole, and as both patches from 1.0.
    private func offer(whole: Int? = 1000, zip: Int? = 300, content: Int? = 100) throws -> ModuleOffer {
        var offer = ModuleOffer(try Sample.module("shop"), version: Self.version("2.0"))
        offer.archive = try artifact("whole", whole)
        offer.patches = [
            PatchOffer(
                .zip,
                from: Self.version("1.0"),
                base: Self.digest("zip 1.0"),
                artifact: try artifact("zip", zip)
            ),
            PatchOffer(
                .content,
                from: Self.version("1.0"),
                base: Self.digest("manifest 1.0"),
                artifact: try artifact("content", content)
            ),
        ]
        return offer
    }

    private func situation(_ active: String? = "1.0") throws -> UpdateSituation {
        var situation = UpdateSituation(appVersion: try Sample.version("3.0"), now: Sample.moment)
        situation.active = try active.map(pack)
        return situation
    }

    private func step(_ offer: ModuleOffer, _ situation: UpdateSituation) -> String {
        describe(UpdatePlanner().plan(for: offer, in: situation).step)
    }

    private func describe(_ step: UpdatePlan.Step) -> String {
        switch step {
        case .nothing(let reason): "nothing: \(reason)".components(separatedBy: "(")[0]
        case .patch(let patch, let base): "\(patch.kind) from \(base.version)"
        case .whole: "whole"
        case .activate(let pack): "activate \(pack.version)"
        case .enable: "enable"
        case .disable: "disable"
        }
    }

    @Test("The plan takes the possible way with the fewest bytes")
    func cheapest() throws {
        #expect(step(try offer(), try situation()) == "content from 1.0")
        #expect(step(try offer(zip: 50), try situation()) == "zip from 1.0")
        #expect(step(try offer(whole: 40), try situation()) == "whole")
        #expect(step(try offer(zip: 100), try situation()) == "content from 1.0")
        #expect(step(try offer(whole: nil, zip: nil, content: nil), try situation()) == "content from 1.0")
        #expect(step(try offer(whole: 1, zip: nil, content: 2), try situation()) == "zip from 1.0")
        #expect(UpdatePlanner().plan(for: try offer(), in: try situation()).downloadSize == 100)
    }

    @Test("Without an installed version the whole pack is fetched")
    func first() throws {
        #expect(step(try offer(), try situation(nil)) == "whole")
    }

    @Test("A patch is chosen only if its base is installed")
    func base() throws {
        var there = try situation()
        there.active?.manifest = Self.digest("other")
        #expect(step(try offer(), there) == "zip from 1.0")
        there.active?.isArchiveKept = false
        #expect(step(try offer(), there) == "whole")
        there = try situation()
        there.active?.manifest = nil
        there.active?.archiveDigests = []
        #expect(step(try offer(), there) == "whole")
        #expect(step(try offer(), try situation("1.1")) == "whole")
    }

    @Test(
        "A content patch without a named base is never chosen; a zip patch is, for the version that the client reported"
    )
    func unknownBase() throws {
        var offer = try offer()
        for index in offer.patches.indices {
            offer.patches[index].base = nil
            offer.patches[index].from = nil
        }
        #expect(step(offer, try situation()) == "zip from 1.0")
        #expect(step(offer, try situation("1.4")) == "zip from 1.4")
    }

    @Test("The base may be a version that is kept but not active")
    func keptBase() throws {
        var situation = try situation("1.5")
        situation.others = [try pack("1.0")]
        #expect(step(try offer(), situation) == "content from 1.0")
    }

    @Test("A patch that is offered alone, without its base, makes the client request the whole pack")
    func patchAlone() throws {
        var offer = try offer()
        offer.archive = nil
        #expect(step(offer, try situation("1.1")) == "nothing: noUsablePatch")
        var failed = try situation()
        for way in [FailedUpdate.Way.zipPatch, .contentPatch] {
            let later = Sample.moment.addingTimeInterval(60)
            let failure = FailedUpdate(from: Self.version("1.0"), to: Self.version("2.0"), way: way, retryAt: later)
            failed.failures.append(failure)
        }
        #expect(step(offer, failed) == "nothing: noUsablePatch")
    }

    @Test("The same version in another spelling is up to date; the same version published again is not")
    func upToDate() throws {
        #expect(step(try offer(), try situation("2")) == "nothing: upToDate")
        var offer = try offer()
        offer.manifest = Self.digest("manifest 2.0")
        #expect(step(offer, try situation("2.0")) == "nothing: upToDate")
        offer.manifest = Self.digest("another")
        #expect(step(offer, try situation("2.0")) == "whole")
    }

    @Test("1.10 is higher than 1.9")
    func numericCompare() throws {
        var offer = ModuleOffer(try Sample.module("shop"), version: Self.version("1.10"))
        offer.archive = try artifact("whole", 5)
        #expect(step(offer, try situation("1.9")) == "whole")
        offer.version = Self.version("1.9")
        #expect(step(offer, try situation("1.10")) == "nothing: newerInstalled")
    }

    @Test("A rollback that the server orders uses the kept version, or fetches it")
    func rollback() throws {
        var offer = try offer()
        var situation = try situation("3.0")
        #expect(step(offer, situation) == "nothing: newerInstalled")
        offer.isExact = true
        #expect(step(offer, situation) == "whole")
        situation.others = [try pack("2.0")]
        #expect(step(offer, situation) == "activate 2.0")
    }

    @Test("Without a named version the zip's digest, or else its address, decides whether it is installed")
    func namelessVersion() throws {
        var offer = ModuleOffer(try Sample.module("shop"))
        offer.isExact = true
        offer.archive = try artifact("whole", 5)
        var situation = try situation()
        #expect(step(offer, situation) == "whole")
        situation.active?.archiveURL = offer.archive?.url
        #expect(step(offer, situation) == "nothing: upToDate")
        offer.archive?.digest = Self.digest("zip 2.0")
        #expect(step(offer, situation) == "whole")
        offer.archive?.digest = Self.digest("zip 1.0")
        situation.active?.archiveURL = nil
        #expect(step(offer, situation) == "nothing: upToDate")
    }

    @Test("The offer switches a module on and off")
    func switching() throws {
        var offer = try offer()
        var situation = try situation("2.0")
        situation.isActive = false
        #expect(step(offer, situation) == "enable")
        #expect(step(ModuleOffer(offer.module), situation) == "enable")
        offer.version = Self.version("1.0")
        #expect(step(offer, situation) == "enable")
        offer.isActive = false
        #expect(step(offer, situation) == "nothing: alreadyDisabled")
        situation.isActive = true
        #expect(step(offer, situation) == "disable")
    }

    @Test("Switching on comes before a download, whatever prevents that, and not before an activation")
    func switchingOnFirst() throws {
        var offer = try offer()
        for active in ["1.0", nil] {
            var situation = try situation(active)
            situation.isActive = false
            #expect(step(offer, situation) == "enable")
            situation.freeSpace = 0
            #expect(step(offer, situation) == "enable")
        }
        offer.isExact = true
        var situation = try situation("3.0")
        situation.isActive = false
        situation.others = [try pack("2.0")]
        #expect(step(offer, situation) == "activate 2.0")
        let later = Sample.moment.addingTimeInterval(60)
        situation.failures = [FailedUpdate(to: Self.version("2.0"), way: .version, retryAt: later)]
        #expect(step(offer, situation) == "enable")
    }

    @Test("An empty offer changes nothing")
    func nothingOffered() throws {
        #expect(step(ModuleOffer(try Sample.module("shop")), try situation()) == "nothing: nothingOffered")
    }

    @Test("A version below the minimum must not be served, whatever the plan does")
    func minimumVersion() throws {
        var offer = try offer()
        offer.minimumVersion = Self.version("1.5")
        #expect(UpdatePlanner().plan(for: offer, in: try situation()).mustNotServe)
        #expect(!UpdatePlanner().plan(for: offer, in: try situation("1.5")).mustNotServe)
        #expect(!UpdatePlanner().plan(for: offer, in: try situation(nil)).mustNotServe)
        offer.archive = nil
        offer.patches = []
        offer.version = nil
        #expect(UpdatePlanner().plan(for: offer, in: try situation("1.10")).mustNotServe == false)
        #expect(UpdatePlanner().plan(for: offer, in: try situation("1.4")).mustNotServe)
    }

    @Test("A version for a newer app is skipped")
    func minimumAppVersion() throws {
        var offer = try offer()
        offer.minimumAppVersion = Self.version("3.0.1")
        let plan = UpdatePlanner().plan(for: offer, in: try situation())
        #expect(plan.step == .nothing(.appTooOld(minimum: try Sample.version("3.0.1"))))
        offer.minimumAppVersion = Self.version("3")
        #expect(step(offer, try situation()) == "content from 1.0")
    }

    @Test("A download waits for the network that the offer requires")
    func network() throws {
        var offer = try offer()
        var situation = try situation()
        situation.network = .unfulfilled
        #expect(step(offer, situation) == "content from 1.0")
        offer.network = .unmetered
        #expect(step(offer, situation) == "nothing: network")
        situation.network = .fulfilled
        #expect(step(offer, situation) == "content from 1.0")
        // Publishers set the condition to spare the user costs, so an unknown network does not count.
        situation.network = .unknown
        #expect(step(offer, situation) == "nothing: network")
        var planner = UpdatePlanner()
        planner.allowsUnknownNetwork = true
        guard case .patch = planner.plan(for: offer, in: situation).step else {
            Issue.record("nothing is downloaded although an unknown network is allowed")
            return
        }
    }

    @Test("Using an installed version needs no network and no space")
    func activationIsFree() throws {
        var offer = try offer()
        offer.isExact = true
        offer.network = .unmetered
        var situation = try situation("3.0")
        situation.others = [try pack("2.0")]
        situation.network = .unfulfilled
        situation.freeSpace = 0
        #expect(step(offer, situation) == "activate 2.0")
    }

    @Test(
        "A download that does not fit on the disk is not started; one that fits is preferred to a cheaper one that does not"
    )
    func space() throws {
        var planner = UpdatePlanner()
        planner.reservedSpace = 1000
        var offer = try offer(whole: 500, zip: 300, content: nil)
        offer.patches.removeLast()
        offer.installedSize = 2000
        var situation = try situation()
        // The zip patch makes a zip of 500 bytes as well: 300 + 500 + 2000 + 1000; the whole pack: 500 + 2000 + 1000.
        situation.freeSpace = 3800
        #expect(describe(planner.plan(for: offer, in: situation).step) == "zip from 1.0")
        situation.freeSpace = 3799
        #expect(describe(planner.plan(for: offer, in: situation).step) == "whole")
        situation.freeSpace = 3499
        #expect(planner.plan(for: offer, in: situation).step == .nothing(.noSpace(needed: 3500, available: 3499)))
        offer.installedSize = .max
        #expect(planner.plan(for: offer, in: situation).step == .nothing(.noSpace(needed: .max, available: 3499)))
    }

    @Test("A way that failed is skipped until it may be tried again")
    func failures() throws {
        let later = Sample.moment.addingTimeInterval(60)
        let latest = Sample.moment.addingTimeInterval(90)
        let (from, to) = (Self.version("1.0"), Self.version("2.0"))
        var situation = try situation()
        situation.failures = [FailedUpdate(from: from, to: to, way: .contentPatch, retryAt: later)]
        #expect(step(try offer(), situation) == "zip from 1.0")
        situation.failures.append(FailedUpdate(from: from, to: to, way: .zipPatch, retryAt: later))
        #expect(step(try offer(), situation) == "whole")
        situation.failures.append(FailedUpdate(to: to, way: .whole, retryAt: latest))
        #expect(UpdatePlanner().plan(for: try offer(), in: situation).step == .nothing(.failedBefore(retryAt: later)))
        situation.now = later
        #expect(step(try offer(), situation) == "content from 1.0")
    }

    @Test("A failure of another pair, or of another file without a named version, changes nothing")
    func otherFailures() throws {
        let later = Sample.moment.addingTimeInterval(60)
        var situation = try situation()
        situation.failures = [
            FailedUpdate(from: Self.version("0.9"), to: Self.version("2.0"), way: .contentPatch, retryAt: later),
            FailedUpdate(from: Self.version("1.0"), to: Self.version("1.9"), way: .contentPatch, retryAt: later),
        ]
        #expect(step(try offer(), situation) == "content from 1.0")
        var nameless = ModuleOffer(try Sample.module("shop"))
        nameless.archive = try artifact("whole", 5)
        situation.failures = [
            FailedUpdate(to: nil, way: .whole, artifact: try Sample.url("https://a.example/b"), retryAt: later)
        ]
        #expect(step(nameless, situation) == "whole")
        situation.failures = [FailedUpdate(to: nil, way: .whole, artifact: nameless.archive?.url, retryAt: later)]
        #expect(step(nameless, situation) == "nothing: failedBefore")
    }

    @Test("A failure applies only to the file and the result with the announced digests")
    func failureDigests() throws {
        let later = Sample.moment.addingTimeInterval(60)
        var offer = ModuleOffer(try Sample.module("shop"), version: Self.version("2.0"))
        offer.archive = try artifact("whole", 5)
        offer.archive?.digest = Self.digest("zip 2.0")
        offer.manifest = Self.digest("manifest 2.0")
        var situation = try situation(nil)
        func failed(_ digest: PackDigest?, _ result: PackDigest?) -> FailedUpdate {
            FailedUpdate(
                to: offer.version,
                way: .whole,
                artifact: offer.archive?.url,
                digest: digest,
                result: result,
                retryAt: later
            )
        }
        situation.failures = [failed(offer.archive?.digest, offer.manifest)]
        #expect(step(offer, situation) == "nothing: failedBefore")
        for other in [Self.digest("other"), nil] {
            situation.failures = [failed(other, offer.manifest), failed(offer.archive?.digest, other)]
            #expect(step(offer, situation) == "whole")
        }
    }

    @Test(
        "A version that the app reported bad is not used in any way, not even from the disk, until it may be tried again"
    )
    func badVersion() throws {
        let later = Sample.moment.addingTimeInterval(60)
        var situation = try situation()
        situation.others = [try pack("2.0")]
        situation.failures = [FailedUpdate(to: Self.version("2.0"), way: .version, retryAt: later)]
        #expect(step(try offer(), situation) == "nothing: failedBefore")
        var nameless = try offer()
        nameless.version = nil
        nameless.archive?.digest = Self.digest("zip 2.0")
        #expect(step(nameless, situation) == "nothing: failedBefore")
        situation.now = later
        #expect(step(try offer(), situation) == "activate 2.0")
        #expect(step(nameless, situation) == "activate 2.0")
    }
}
