#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationTesting

@Suite("A slow reader of the inspector's list", .timeLimit(.minutes(10)))
struct InspectorStreamTests {
    @Test("misses loads instead of being waited for, and then gets the latest ones in order")
    func slowReader() async throws {
        let inspected = try await InspectorFixture()
        let reader = try RawConnection(inspected.fixture.port)
        let cookie = try await inspected.cookie()
        reader.send("GET /api/loads HTTP/1.1\r\nHost: \(inspected.host)\r\nCookie: \(cookie)\r\n\r\n")
        // More than the buffers of both sockets take, and than the log keeps: 3,000 loads of about 8 KiB each.
        let count = 3_000
        let long = String(repeating: "x", count: 8 << 10)
        let client = try RawConnection(inspected.fixture.port)
        for number in 1...count {
            client.send("HEAD /?\(number)&\(long) HTTP/1.1\r\nHost: \(inspected.fixture.shop)\r\n\r\n")
            _ = await client.read { $0.suffix(4) == Data("\r\n\r\n".utf8) }
        }
        let end = Data("id: \(count)\n".utf8)
        let text = String(decoding: await reader.read { $0.suffix(64 << 10).range(of: end) != nil }, as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline)
        let numbers = lines.filter { $0.hasPrefix("id: ") }.compactMap { Int($0.dropFirst(4)) }
        var missed = 0
        for (event, data) in zip(lines, lines.dropFirst()) where event == "event: missed" {
            missed += Int(data.dropFirst(6)) ?? 0
        }
        #expect(numbers == numbers.sorted())
        #expect(numbers.last == count)
        #expect(missed > 0)
        #expect(numbers.count + missed == count)
        reader.leave()
    }
}
#endif
