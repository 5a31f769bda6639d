import Foundation
import Testing
import WaystationProcesses
import WaystationTestSupport

@Suite("waystation with a bucket")
struct BucketCommandTests {
    private let tool: Tool
    private let store: ObjectStore
    private let address: String

    init() throws {
        tool = try Tool()
        store = try ObjectStore.shared
        address = store.address()
    }

    private func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Tool.Outcome {
        try tool.run(arguments, environment: store.environment.merging(environment) { $1 })
    }

    @Test("publishes, lists, rolls back, renews and prunes")
    func life() throws {
        try tool.buildPacks()
        let trusted = try tool.makeKey()
        for version in ["1.3", "1.4"] {
            let published = try run("publish", "\(version).zip", "--to", address, "--key", "release.key")
            #expect(published.status == 0, "\(published.errors)")
            #expect(published.output.contains("shop \(version) is live"))
        }
        let listed = try run("list", "--to", address)
        #expect(listed.output.contains("shop  1.4  live"), "\(listed.output)")
        #expect(try run("rollback", "shop", "--to", address, "--key", "release.key").output.contains("1.3 is live"))
        let renewed = try run("renew", "--to", address, "--key", "release.key", "--if-due")
        #expect(renewed.output.contains("nothing to renew"))
        #expect(try run("prune", "--keep", "1", "--to", address, "--key", "release.key").status == 0)
        #expect(trusted.hasPrefix("ed25519:"))
    }

    @Test("each error says what was wrong, and what to do")
    func errors() throws {
        func refused(_ code: Int32, _ text: String, _ environment: [String: String], _ more: String...) throws {
            let arguments = ["list", "--to", address] + more
            let outcome = try tool.run(arguments, environment: store.environment.merging(environment) { $1 })
            #expect(outcome.status == code)
            #expect(outcome.output == "")
            #expect(outcome.errors.contains(text), "\(outcome.errors)")
        }
        try refused(1, "set AWS_ACCESS_KEY_ID in the environment", ["AWS_ACCESS_KEY_ID": ""])
        try refused(3, "does not belong to the access key test-key", ["AWS_SECRET_ACCESS_KEY": "wrong"])
        try refused(3, "not in eu-west-1: set AWS_REGION=us-east-1", [:], "--region", "eu-west-1")
        try refused(3, "could not be reached", [:], "--endpoint", "http://127.0.0.1:1")
        try refused(64, "is invalid for '--endpoint <url>'", [:], "--endpoint", "ftp://127.0.0.1")
        let directory = try run("list", "--to", "folder", "--region", "eu-west-1")
        #expect(directory.status == 64)
        #expect(directory.errors.contains("are for a bucket"))
        let wrong = try run("list", "--to", "s3://A/x")
        #expect(wrong.status == 1)
        #expect(wrong.errors.contains("names no valid bucket"))
    }

    /// `make publish-race` runs more rounds.
    private static let rounds =
        ProcessInfo.processInfo.environment["WAYSTATION_PUBLISH_RACES"].flatMap { Int($0) } ?? 10

    @Test("no release of two processes that publish at once is lost, and the last catalogue has all of them")
    func race() throws {
        _ = try tool.makeKey()
        let modules = ["news", "shop"]
        for module in modules {
            for round in 1...Self.rounds {
                try tool.write(["\(module)/index.html": "<p>\(module) \(round)</p>"])
                let built = try tool.run(
                    ["pack", "build", module, "--module", module, "--pack-version", "1.\(round)"]
                        + ["--base-url", "https://\(module).example/", "-o", "\(module)-\(round).zip"]
                )
                try #require(built.status == 0, "\(built.errors)")
            }
        }
        for round in 1...Self.rounds {
            let publishers = try modules.map { module in
                try tool.start(
                    ["publish", "\(module)-\(round).zip", "--to", address, "--key", "release.key", "--deltas", "1"],
                    environment: store.environment
                )
            }
            for publisher in publishers { #expect(publisher.wait() == .exited(0)) }
        }
        let listed = try object(try run("list", "--to", address, "--format", "json").output)
        #expect(listed["serial"] as? Int == 2 * Self.rounds)
        let found = try #require(listed["modules"] as? [[String: Any]])
        #expect(found.map { $0["module"] as? String } == modules)
        for module in found { #expect((module["releases"] as? [Any])?.count == Self.rounds) }
        // The catalogue is that of this index: otherwise it would be signed again.
        let renewal = try run("renew", "--to", address, "--key", "release.key", "--if-due")
        #expect(renewal.output.hasPrefix("nothing to renew: catalogue \(2 * Self.rounds) "), "\(renewal.output)")
    }
}
