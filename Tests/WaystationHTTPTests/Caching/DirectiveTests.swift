import HTTPTypes
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var lines: String
    var expected: String

    init(_ section: String, _ lines: String, _ expected: String) {
        (self.section, self.lines, self.expected) = (section, lines, expected)
    }

    var testDescription: String { "§\(section) \(lines) → \(expected)" }
}

@Suite("Response directives (RFC 9111 §5.2)")
struct ResponseDirectiveTests {
    private static let rows: [Row] = [
        // Grammar
        Row("5.2", "", ""),
        Row("5.2", "Cache-Control: max-age=60", "max-age=60"),
        Row("5.2", "cache-control: MAX-AGE=60", "max-age=60"),
        Row("5.2", "Cache-Control: Max-Age=60, No-Store", "max-age=60 no-store"),
        Row("5.2", "Cache-Control: max-age=60,no-store", "max-age=60 no-store"),
        Row("5.2", "Cache-Control: ,, max-age=60 ,, no-store ,", "max-age=60 no-store"),
        Row("5.2", "Cache-Control: max-age=60\nCache-Control: no-store", "max-age=60 no-store"),
        Row("5.2", "Cache-Control: max-age=\"60\"", "max-age=60"),
        Row("5.2", "Cache-Control: max-age=\"6\\0\"", "max-age=60"),
        Row("5.2", "Cache-Control: \tmax-age=60\t", "max-age=60"),
        Row("5.2", "Cache-Control: @, max-age=60", "max-age=60"),
        Row("5.2", "Cache-Control: =5, max-age=60", "max-age=60"),
        Row("5.2", "Cache-Control: a b, max-age=60", "max-age=60"),
        Row("5.2", "Cache-Control: max-age=60; no-store", "max-age=0"),
        Row("5.2", "Cache-Control: foo=\"no-store\"", "foo"),
        Row("5.2", "Cache-Control: foo=\"a, no-store\"", "foo"),
        Row("5.2", "Cache-Control: foo=\"a\\\", no-store\", public", "public foo"),
        Row("5.2", "Cache-Control: foo=\"a, no-store", "no-store foo"),
        Row("5.2", "Cache-Control: private=\"x, no-store", "private no-store"),
        Row("5.2", "Pragma: no-cache", ""),
        // Numbers
        Row("1.2.2", "Cache-Control: max-age=0", "max-age=0"),
        Row("1.2.2", "Cache-Control: max-age=007", "max-age=7"),
        Row("1.2.2", "Cache-Control: max-age=2147483647", "max-age=2147483647"),
        Row("1.2.2", "Cache-Control: max-age=2147483648", "max-age=2147483648"),
        Row("1.2.2", "Cache-Control: max-age=2147483649", "max-age=2147483648"),
        Row("1.2.2", "Cache-Control: max-age=99999999999999999999999999", "max-age=2147483648"),
        Row("4.2.1", "Cache-Control: max-age=abc", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=-1", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=+1", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=1.5", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=60s", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=0x10", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=\"\"", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=\"60", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=\"60\"x", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age =60", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age= 60", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=６０", "max-age=0"),
        // Repetitions
        Row("4.2.1", "Cache-Control: max-age=60, max-age=30", "max-age=60"),
        Row("4.2.1", "Cache-Control: max-age=30, max-age=60", "max-age=30"),
        Row("4.2.1", "Cache-Control: max-age=30\nCache-Control: max-age=60", "max-age=30"),
        Row("4.2.1", "Cache-Control: max-age=x, max-age=60", "max-age=0"),
        Row("4.2.1", "Cache-Control: max-age=60, no-cache", "max-age=60 no-cache"),
        // Each directive
        Row("5.2.2.2", "Cache-Control: must-revalidate", "must-revalidate"),
        Row("5.2.2.2", "Cache-Control: must-revalidate=1", "must-revalidate"),
        Row("5.2.2.3", "Cache-Control: must-understand", "must-understand"),
        Row("5.2.2.3", "Cache-Control: must-understand=1", ""),
        Row("5.2.2.4", "Cache-Control: no-cache", "no-cache"),
        Row("5.2.2.4", "Cache-Control: no-cache=\"Set-Cookie\"", "no-cache[set-cookie]"),
        Row("5.2.2.4", "Cache-Control: no-cache=\"Set-Cookie, X-A\"", "no-cache[set-cookie,x-a]"),
        Row("5.2.2.4", "Cache-Control: no-cache=\",Set-Cookie,,\"", "no-cache[set-cookie]"),
        Row("5.2.2.4", "Cache-Control: no-cache=Set-Cookie", "no-cache[set-cookie]"),
        Row("5.2.2.4", "Cache-Control: no-cache=\"a\", no-cache=\"b\"", "no-cache[a,b]"),
        Row("5.2.2.4", "Cache-Control: no-cache=\"a\", no-cache", "no-cache"),
        Row("5.2.2.4", "Cache-Control: no-cache, no-cache=\"a\"", "no-cache"),
        Row("5.2.2.4", "Cache-Control: no-cache=\"\"", "no-cache"),
        Row("5.2.2.4", "Cache-Control: no-cache=", "no-cache"),
        Row("5.2.2.4", "Cache-Control: no-cache=\"a b\"", "no-cache"),
        Row("5.2.2.4", "Cache-Control: no-cache=\"a", "no-cache"),
        Row("5.2.2.5", "Cache-Control: no-store", "no-store"),
        Row("5.2.2.5", "Cache-Control: no-store=x", "no-store"),
        Row("5.2.2.5", "Cache-Control: no-store=\"", "no-store"),
        Row("5.2.2.6", "Cache-Control: no-transform", "no-transform"),
        Row("5.2.2.7", "Cache-Control: private", "private"),
        Row("5.2.2.7", "Cache-Control: private=\"Set-Cookie\"", "private[set-cookie]"),
        Row("5.2.2.7", "Cache-Control: private=\"\"", "private"),
        Row("5.2.2.8", "Cache-Control: proxy-revalidate", "proxy-revalidate"),
        Row("5.2.2.9", "Cache-Control: public", "public"),
        Row("5.2.2.9", "Cache-Control: public=\"x\"", ""),
        Row("5.2.2.10", "Cache-Control: s-maxage=5", "s-maxage=5"),
        Row("5.2.2.10", "Cache-Control: s-maxage=x", "s-maxage=0"),
        Row("5.2.3", "Cache-Control: community=\"UCI\"", "community"),
        Row("5.2.3", "Cache-Control: private, community=\"UCI\", max-age=5", "max-age=5 private community"),
        Row("5.2.3", "Cache-Control: pre-check=0, post-check=0", "pre-check post-check"),
        Row("RFC 5861 §3", "Cache-Control: stale-while-revalidate=30", "stale-while-revalidate=30"),
        Row("RFC 5861 §3", "Cache-Control: stale-while-revalidate", ""),
        Row("RFC 5861 §3", "Cache-Control: stale-while-revalidate=x", ""),
        Row("RFC 5861 §4", "Cache-Control: stale-if-error=\"30\"", "stale-if-error=30"),
        Row("RFC 5861 §4", "Cache-Control: stale-if-error=-1", ""),
        Row("RFC 8246 §2", "Cache-Control: max-age=5, immutable", "max-age=5 immutable"),
        Row("RFC 8246 §2", "Cache-Control: immutable=true", ""),
        Row("RFC 9213 §3", "CDN-Cache-Control: max-age=600", ""),
        Row("RFC 9213 §2", "Cache-Control: no-store\nCDN-Cache-Control: max-age=600", "no-store"),
        Row("RFC 9213 §2", "Surrogate-Control: max-age=600\nCache-Control: max-age=5", "max-age=5"),
    ]

    @Test("are read by their grammar: leniently if they restrict, strictly if they permit", arguments: rows)
    private func reading(_ row: Row) {
        #expect(summary(CacheControl(fields(row.lines))) == row.expected)
    }

    @Test("§5.2.3: unknown directives are kept with their arguments")
    func extensions() {
        let control = CacheControl(fields("Cache-Control: Community=\"U C\\\"I\", flag, odd=a b"))
        #expect(control.extensions.map(\.name) == ["community", "flag", "odd"])
        #expect(control.extensions.map(\.argument) == ["U C\"I", nil, "a b"])
        #expect(control.extensions.map(\.isWellFormed) == [true, true, false])
    }

    private func summary(_ control: CacheControl) -> String {
        var words: [String] = []
        func add(_ name: String, _ value: Duration?) {
            if let value { words.append("\(name)=\(value.components.seconds)") }
        }
        func add(_ name: String, _ flag: Bool) { if flag { words.append(name) } }
        func add(_ name: String, _ scope: CacheControl.Scope) {
            switch scope {
            case .nothing: break
            case .response: words.append(name)
            case .fields(let names): words.append("\(name)[\(names.map(\.canonicalName).joined(separator: ","))]")
            }
        }
        add("max-age", control.maxAge)
        add("s-maxage", control.sharedMaxAge)
        add("no-cache", control.noCache)
        add("private", control.private)
        add("no-store", control.noStore)
        add("public", control.isPublic)
        add("must-revalidate", control.mustRevalidate)
        add("proxy-revalidate", control.proxyRevalidate)
        add("must-understand", control.mustUnderstand)
        add("no-transform", control.noTransform)
        add("immutable", control.immutable)
        add("stale-while-revalidate", control.staleWhileRevalidate)
        add("stale-if-error", control.staleIfError)
        words += control.extensions.map(\.name)
        return words.joined(separator: " ")
    }
}

@Suite("Request directives (RFC 9111 §5.2.1, §5.4)")
struct RequestDirectiveTests {
    private static let rows: [Row] = [
        Row("5.2.1", "", ""),
        Row("5.2.1.1", "Cache-Control: max-age=0", "max-age=0"),
        Row("5.2.1.1", "Cache-Control: max-age=\"5\"", "max-age=5"),
        Row("5.2.1.1", "Cache-Control: max-age=x", "max-age=0"),
        Row("5.2.1.1", "Cache-Control: max-age", "max-age=0"),
        Row("5.2.1.1", "Cache-Control: max-age=5, max-age=9", "max-age=5"),
        Row("5.2.1.1", "Cache-Control: max-age=9999999999", "max-age=2147483648"),
        Row("5.2.1.2", "Cache-Control: max-stale", "max-stale"),
        Row("5.2.1.2", "Cache-Control: max-stale=10", "max-stale=10"),
        Row("5.2.1.2", "Cache-Control: max-stale=\"10\"", "max-stale=10"),
        Row("5.2.1.2", "Cache-Control: max-stale=x", ""),
        Row("5.2.1.2", "Cache-Control: max-stale=", ""),
        Row("5.2.1.3", "Cache-Control: min-fresh=20", "min-fresh=20"),
        Row("5.2.1.3", "Cache-Control: min-fresh=x", "min-fresh=2147483648"),
        Row("5.2.1.3", "Cache-Control: min-fresh", "min-fresh=2147483648"),
        Row("5.2.1.4", "Cache-Control: no-cache", "no-cache"),
        Row("5.2.1.4", "Cache-Control: NO-CACHE=x", "no-cache"),
        Row("5.2.1.5", "Cache-Control: no-store", "no-store"),
        Row("5.2.1.6", "Cache-Control: no-transform", "no-transform"),
        Row("5.2.1.7", "Cache-Control: only-if-cached", "only-if-cached"),
        Row("5.2.1.7", "Cache-Control: only-if-cached, max-stale=5", "max-stale=5 only-if-cached"),
        Row("RFC 5861 §4", "Cache-Control: stale-if-error=60", "stale-if-error=60"),
        Row("RFC 5861 §4", "Cache-Control: stale-if-error", ""),
        Row("5.2.3", "Cache-Control: fancy=1", "fancy"),
        Row("5.4", "Pragma: no-cache", "no-cache"),
        Row("5.4", "Pragma: No-Cache", "no-cache"),
        Row("5.4", "Pragma: token, no-cache", "no-cache"),
        Row("5.4", "Pragma: other", ""),
        Row("5.4", "Pragma: no-cache\nCache-Control: max-age=5", "max-age=5"),
        Row("5.4", "Pragma: no-cache\nCache-Control: fancy", "fancy"),
    ]

    @Test("are read by their grammar", arguments: rows)
    private func reading(_ row: Row) {
        let control = RequestCacheControl(fields(row.lines))
        var words: [String] = []
        if let age = control.maxAge { words.append("max-age=\(age.components.seconds)") }
        switch control.maxStale {
        case .any: words.append("max-stale")
        case .upTo(let limit): words.append("max-stale=\(limit.components.seconds)")
        case nil: break
        }
        if let fresh = control.minFresh { words.append("min-fresh=\(fresh.components.seconds)") }
        if control.noCache { words.append("no-cache") }
        if control.noStore { words.append("no-store") }
        if control.noTransform { words.append("no-transform") }
        if control.onlyIfCached { words.append("only-if-cached") }
        if let limit = control.staleIfError { words.append("stale-if-error=\(limit.components.seconds)") }
        words += control.extensions.map(\.name)
        #expect(words.joined(separator: " ") == row.expected)
    }
}
