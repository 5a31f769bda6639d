import HTTPTypes
import StructuredFieldValues
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var status: CacheStatus
    var expected: String

    init(_ section: String, _ status: CacheStatus, _ expected: String) {
        (self.section, self.status, self.expected) = (section, status, expected)
    }

    var testDescription: String { "RFC 9211 §\(section) \(expected)" }
}

@Suite("Cache-Status (RFC 9211)")
struct CacheStatusTests {
    private static let rows: [Row] =
        [
            Row("2.1", CacheStatus("W", .hit), "W; hit"),
            Row("2.4", CacheStatus("W", .hit, timeToLive: .seconds(376)), "W; hit; ttl=376"),
            Row("2.4", CacheStatus("W", .hit, timeToLive: .seconds(-412)), "W; hit; ttl=-412"),
            Row("2.4", CacheStatus("W", .hit, timeToLive: .zero), "W; hit; ttl=0"),
            Row("2.4", CacheStatus("W", .hit, timeToLive: .seconds(Int64.max)), "W; hit; ttl=999999999999999"),
            Row("2.3", CacheStatus("W", .forwarded(.stale, status: 304)), "W; fwd=stale; fwd-status=304"),
            Row(
                "2.5",
                CacheStatus("W", .forwarded(.uriMiss, status: 200, isStored: true)),
                "W; fwd=uri-miss; fwd-status=200; stored"
            ),
            Row("2.6", CacheStatus("W", .forwarded(.uriMiss, isCollapsed: true)), "W; fwd=uri-miss; collapsed"),
            Row(
                "2.6",
                CacheStatus("W", .forwarded(.uriMiss, isStored: true, isCollapsed: true)),
                "W; fwd=uri-miss; stored; collapsed"
            ),
            Row(
                "2.7",
                CacheStatus("W", .hit, key: "https://e/a?b=\"c\\d\""),
                "W; hit; key=\"https://e/a?b=\\\"c\\\\d\\\"\""
            ),
            Row("2.7", CacheStatus("W", .hit, key: "ü\n"), "W; hit; key=\"%C3%BC%0A\""),
            Row("2.8", CacheStatus("W", .hit, detail: "memory"), "W; hit; detail=memory"),
            Row("2.8", CacheStatus("W", .hit, detail: "from memory"), "W; hit; detail=\"from memory\""),
            Row("2.8", CacheStatus("W", .hit, detail: ""), "W; hit; detail=\"\""),
            Row("2", CacheStatus("way.example:443/x", .hit), "way.example:443/x; hit"),
            Row("2", CacheStatus("My Cache", .hit), "\"My Cache\"; hit"),
            Row("2", CacheStatus("1st", .hit), "\"1st\"; hit"),
        ]
        + [
            (CacheStatus.ForwardReason.bypass, "bypass"), (.method, "method"), (.uriMiss, "uri-miss"),
            (.varyMiss, "vary-miss"),
            (.miss, "miss"), (.request, "request"), (.stale, "stale"), (.partial, "partial"),
        ].map { Row("2.2", CacheStatus("W", .forwarded($0)), "W; fwd=\($1)") }

    @Test("is written as its section requires, and is a structured field", arguments: rows)
    private func writing(_ row: Row) throws {
        #expect(row.status.fieldValue == row.expected)
        _ = try StructuredFieldValueDecoder().decode(Members.self, from: Array(row.expected.utf8))
    }

    private struct Members: StructuredFieldValue {
        static let structuredFieldType = StructuredFieldType.list
        var items: [Member]
    }

    private struct Member: Decodable, Encodable {
        var item: String
    }

    @Test(
        "§2: comes after the fields of the caches nearer to the origin",
        arguments: [
            ("", "W; hit"), ("Cache-Status:", "W; hit"), ("Cache-Status: O; fwd=stale", "O; fwd=stale, W; hit"),
            ("Cache-Status: O; hit\nCache-Status: P; hit", "O; hit, P; hit, W; hit"),
        ]
    )
    func appending(_ lines: String, _ expected: String) throws {
        var all = fields(lines)
        CacheStatus("W", .hit).append(to: &all)
        #expect(all[values: try #require(CacheStatus.fieldName)] == [expected])
    }
}
