import HTTPTypes
import StructuredFieldValues
import Testing
import WaystationHTTP

@testable import Waystation

/// A `Cache-Status` field as a parser of structured fields reads it (RFC 9211 §2).
private struct CacheStatusField: StructuredFieldValue, Equatable {
    struct Member: Codable, Equatable {
        struct Parameters: Codable, Equatable {
            var hit: Bool?
            var fwd: String?
            var forwardedStatus: Int?
            var stored: Bool?
            var ttl: Int?
            var detail: String?

            enum CodingKeys: String, CodingKey {
                case hit, fwd, stored, ttl, detail
                case forwardedStatus = "fwd-status"
            }
        }

        var item: String
        var parameters: Parameters
    }

    static let structuredFieldType = StructuredFieldType.list
    var items: [Member]

    init(reading text: String) throws {
        self = try StructuredFieldValueDecoder().decode(Self.self, from: Array(text.utf8))
    }
}

@Suite("Cache-Status")
struct CacheStatusTests {
    private typealias Parameters = CacheStatusField.Member.Parameters

    private func parameters(_ status: CacheStatus) throws -> Parameters {
        let field = try CacheStatusField(reading: status.fieldValue)
        #expect(field.items.map(\.item) == ["Waystation"])
        return try #require(field.items.first).parameters
    }

    @Test("of a hit has `hit`, the time to live and the detail")
    func hit() throws {
        #expect(try parameters(CacheStatus(.hit)) == Parameters(hit: true))
        #expect(
            try parameters(CacheStatus(.hit, timeToLive: .seconds(-30), detail: "files"))
                == Parameters(hit: true, ttl: -30, detail: "files")
        )
    }

    @Test(
        "of a forwarded request has the reason, the status and whether the response was stored",
        arguments: [
            (CacheStatus.ForwardReason.bypass, "bypass"), (.uriMiss, "uri-miss"), (.varyMiss, "vary-miss"),
            (.request, "request"), (.stale, "stale"),
        ]
    )
    func forwarded(reason: CacheStatus.ForwardReason, name: String) throws {
        #expect(
            try parameters(CacheStatus(.forwarded(reason, status: 200, isStored: true)))
                == Parameters(fwd: name, forwardedStatus: 200, stored: true)
        )
        #expect(
            try parameters(CacheStatus(.forwarded(reason, status: 404, isStored: false)))
                == Parameters(fwd: name, forwardedStatus: 404)
        )
    }

    @Test("lists the waystation after the caches nearer to the origin")
    func appended() throws {
        let name = try #require(CacheStatus.fieldName)
        var fields: HTTPFields = [name: "ReverseProxy; hit, \"Edge, 2\"; fwd=stale"]
        CacheStatus(.hit).append(to: &fields)
        let field = try CacheStatusField(reading: #require(fields[name]))
        #expect(field.items.map(\.item) == ["ReverseProxy", "Edge, 2", "Waystation"])
        #expect(field.items.map(\.parameters.hit) == [true, nil, true])
    }
}
