#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationTestSupport
import WaystationTesting

@testable import WaystationPacks

/// The inspector shows the cache and the packs, removes responses and rolls versions back.
@Suite("The state that the inspector shows", .timeLimit(.minutes(10)))
struct InspectedStateTests {
    private func json(_ response: RawResponse) throws -> JSONValue {
        #expect(response.status == 200, "\(response.text)")
        return try JSONDecoder().decode(JSONValue.self, from: response.body)
    }

    @Test("has each variant of a URL with the request fields that selected it, and removes one of them alone")
    func variants() async throws {
        let inspected = try await InspectorFixture()
        let requests = [["Accept-Language: de"], ["Accept-Language: fr"], []]
        for fields in requests { _ = try await inspected.fixture.get("/kept/varied", host: inspected.name, fields) }
        let listing = try json(await inspected.ask("/api/cache?search=kept/varied"))
        #expect(listing["found"] == 3)
        #expect(listing["total"] == 3)
        let entries = listing["entries"].elements
        let variants = entries.map { $0["variant"].elements.compactMap(\.string) }
        #expect(
            Set(variants) == [["accept-language: de"], ["accept-language: fr"], ["no accept-language"]]
        )
        let french = try #require(entries.first { $0["variant"] == ["accept-language: fr"] })
        let id = Int(try #require(french["id"].number))
        let details = try json(await inspected.ask("/api/entry?id=\(id)"))
        #expect(details["entry"]["variant"] == ["accept-language: fr"])
        #expect(details["fields"].elements.contains(["Vary", "Accept-Language"]))

        #expect(try json(await inspected.ask("/api/purge?id=\(id)", method: "POST")) == ["removed": 1])
        #expect(try await inspected.ask("/api/entry?id=\(id)").status == 404)
        #expect(try await inspected.ask("/api/purge?id=\(id)", method: "POST").status == 404)
        let rest = try json(await inspected.ask("/api/cache?search=kept/varied"))["entries"].elements
        #expect(rest.map { $0["variant"] }.contains(["accept-language: fr"]) == false)
        #expect(rest.count == 2)
        #expect(inspected.origin.requestCount == 3)
        for fields in requests { _ = try await inspected.fixture.get("/kept/varied", host: inspected.name, fields) }
        // Only the variant that was removed is asked for again.
        #expect(inspected.origin.requestCount == 4)
        #expect(inspected.origin.requests.last?.value(of: "Accept-Language") == "fr")
    }

    @Test("has the bytes of a part, and its tags and groups")
    func parts() async throws {
        let inspected = try await InspectorFixture()
        _ = try await inspected.fixture.get("/kept/film", host: inspected.name, ["Range: bytes=10-19"])
        let entry = try json(await inspected.ask("/api/cache?search=kept/film"))["entries"][0]
        #expect(entry["part"] == "bytes 10-19 of 5000")
        #expect(entry["variant"].elements.isEmpty)
        #expect(entry["tags"] == ["inspected"])
        #expect(entry["groups"] == ["films"])
        let id = Int(try #require(entry["id"].number))
        let details = try json(await inspected.ask("/api/entry?id=\(id)"))
        #expect(details["entry"]["part"] == "bytes 10-19 of 5000")
        #expect(details["freshness"].string?.contains("The response's group is \"films\".") == true)
    }

    @Test("hides the value of a cookie that selected a variant")
    func secretVariant() async throws {
        let inspected = try await InspectorFixture()
        _ = try await inspected.fixture.get("/kept/user", host: inspected.name)
        let listing = try await inspected.ask("/api/cache?search=kept/user")
        let variant = try json(listing)["entries"][0]["variant"]
        #expect(variant[0].string?.hasPrefix("cookie: ") == true, "\(listing.text)")
        #expect(!listing.text.contains("-secret"))
    }

    /// The versions of the module with their states, without the dates.
    private func states(_ module: JSONValue) -> [String: String] {
        let rows = module["versions"].elements.map { version -> (String, String) in
            let state = (version["health"].string ?? "").replacing(#/ since .*/#, with: "")
            return (version["version"].string ?? "", state + (version["isActive"] == true ? ", active" : ""))
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test("has a version on trial, and rolls it back as one that is bad")
    func trial() async throws {
        let inspected = try await InspectorFixture()
        let shop = try #require(ModuleID("shop"))
        try await inspected.packs.update(shop) { library, record in
            let active = record.active ?? ""
            record.change(active) { $0.wasConfirmed = nil }
            library.begin(active, of: shop, in: &record, onTrial: true)
        }
        let name = "pack-example.localhost:\(inspected.fixture.port)"
        #expect(try await inspected.fixture.get("/", host: name).text == "<p>version 1.1</p>")
        let before = try json(await inspected.ask("/api/packs"))[0]
        #expect(states(before) == ["1.0": "confirmed", "1.1": "on trial, active"])
        #expect(before["canRollBack"] == true)

        let after = try json(await inspected.ask("/api/rollback?module=shop&version=1.1", method: "POST"))
        #expect(states(after) == ["1.0": "confirmed, active", "1.1": "bad"])
        #expect(
            after["versions"].elements.contains {
                $0["health"].string?.hasSuffix(": rolled back in the inspector") == true
            }
        )
        #expect(try await inspected.fixture.get("/", host: name).text == "<p>version 1.0</p>")
    }

    @Test("does not roll back a version that was not shown as the active one")
    func otherVersion() async throws {
        let inspected = try await InspectorFixture()
        let refused = try await inspected.ask("/api/rollback?module=shop&version=1.0", method: "POST")
        #expect(refused.status == 409)
        #expect(refused.text.contains("Version 1.0 of shop is not active any more"))
        #expect(
            states(try json(await inspected.ask("/api/packs"))[0]) == ["1.0": "confirmed", "1.1": "confirmed, active"]
        )
    }

    @Test("has a module without an active version after its only version was rolled back")
    func lastVersion() async throws {
        let inspected = try await InspectorFixture()
        _ = try json(await inspected.ask("/api/rollback?module=shop&version=1.1", method: "POST"))
        let last = try json(await inspected.ask("/api/rollback?module=shop&version=1.0", method: "POST"))
        #expect(states(last) == ["1.0": "bad", "1.1": "bad"])
        #expect(last["canRollBack"] == false)
        #expect(last["isServing"] == false)
        #expect(try await inspected.ask("/api/rollback?module=shop&version=1.0", method: "POST").status == 409)
    }
}
#endif
