import Foundation
import FoundationNetworking
import Testing
import WaystationTesting

@Test(.stubbed { Stub(.get("https://shop.example/price"), .json(["price": 42])) })
func price() async throws {
    let url = try #require(URL(string: "https://shop.example/price"))
    let (data, _) = try await URLSession.shared.data(from: url)  // or code of yours that loads
    #expect(try JSONDecoder().decode([String: Int].self, from: data) == ["price": 42])
}
