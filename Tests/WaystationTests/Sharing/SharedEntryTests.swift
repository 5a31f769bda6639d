import Foundation
import HTTPTypes
import Testing
import WaystationHTTP
import WaystationStorage
import WaystationTesting

@testable import Waystation

@Suite("An entry of a shared tier")
struct SharedEntryTests {
    private let keys = SharedKeys(secret: Data("a secret of some bytes".utf8))
    private let request = SharedRequest(
        key: RequestKey(method: "GET", url: "https://a.example/x?token=t0ken", partition: "p4rtition"),
        fields: [.acceptLanguage: "de", .cookie: "c00kie"]
    )
    private let stamp = Data(0..<UInt8(SharedStamp.length))

    private var head: StoredHead {
        let fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept-Language", .eTag: "\"1\""]
        return StoredHead(
            key: request.key,
            status: 203,
            headerFields: fields,
            vary: VaryKey(fields, request: request.fields),
            requestTime: Date(timeIntervalSince1970: 1_800_000_000.25),
            responseTime: Date(timeIntervalSince1970: 1_800_000_001.5),
            contentLength: 4
        )
    }

    /// The value of an entry, as it is in the tier.
    private func value(_ entry: SharedEntry) throws -> Data {
        let contents = entry.encoded(under: stamp)
        let header = SharedEntry.header(for: contents.count + SharedKeys.sealLength)
        return try #require(keys.seal(contents, for: keys.entry(request), header: header)).prepending(header)
    }

    /// Reads a value.
    private func read(_ value: Data, with keys: SharedKeys, at request: SharedRequest) -> SharedEntry? {
        guard let (header, sealed) = SharedEntry.split(value),
            let contents = keys.open(sealed, for: keys.entry(request), header: header)
        else { return nil }
        return SharedEntry.decode(contents, for: request)?.entry
    }

    @Test("is read as it was written")
    func response() throws {
        let value = try value(.response(head, body: Data("body".utf8)))
        guard case .response(let read, let body)? = read(value, with: keys, at: request) else {
            Issue.record("not a response")
            return
        }
        #expect(read == head)
        #expect(body == Data("body".utf8))
        let names: [HTTPField.Name] = [.acceptLanguage, .userAgent]
        guard case .variants(names)? = self.read(try self.value(.variants(of: names)), with: keys, at: request) else {
            Issue.record("not names")
            return
        }
    }

    @Test("is nothing after any change of a byte, at any length, for another request and with another secret")
    func damage() throws {
        let value = try value(.response(head, body: Data("body".utf8)))
        for index in value.indices {
            var damaged = value
            damaged[index] ^= 1 << UInt8(index % 8)
            #expect(read(damaged, with: keys, at: request) == nil)
            #expect(read(value.prefix(index), with: keys, at: request) == nil)
        }
        #expect(read(value + [0], with: keys, at: request) == nil)
        let others = [
            SharedRequest(key: RequestKey(method: "GET", url: "https://a.example/x"), fields: request.fields),
            SharedRequest(key: request.key, fields: [.cookie: "other"]),
        ]
        for other in others { #expect(read(value, with: keys, at: other) == nil) }
        #expect(read(value, with: SharedKeys(secret: Data("another secret of bytes".utf8)), at: request) == nil)
    }

    @Test("is decoded or refused whatever its contents are, also if they were sealed by a machine of the fleet")
    func contents() {
        var generator = SeededGenerator(seed: 1)
        let good = SharedEntry.response(head, body: Data("body".utf8)).encoded(under: stamp)
        for round in 0..<20_000 {
            var contents = round.isMultiple(of: 2) ? good : SharedEntry.variants(of: [.accept]).encoded(under: stamp)
            for _ in 0..<(round % 4 + 1) where !contents.isEmpty {
                contents[Int.random(in: 0..<contents.count, using: &generator)] = .random(
                    in: 0...255,
                    using: &generator
                )
                contents = contents.prefix(Int.random(in: 0...contents.count, using: &generator))
            }
            _ = SharedEntry.decode(contents, for: request)
        }
    }

    @Test("reveals no URL, partition, cookie, field or body, neither in its name nor in its value")
    func secrecy() throws {
        let value = try value(.response(head, body: Data("s3cret body".utf8)))
        let seen = Data((keys.entry(request).name + keys.root(of: request.key.url).name).utf8) + value
        for secret in ["a.example", "t0ken", "p4rtition", "c00kie", "max-age", "s3cret"] {
            #expect(seen.range(of: Data(secret.utf8)) == nil)
        }
    }
}

extension Data {
    fileprivate func prepending(_ data: Data) -> Data { data + self }
}
