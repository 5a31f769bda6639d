import Foundation
import FoundationNetworking
@_spi(Measuring) import Waystation

/// The lowest possible cost of a protocol: it answers every load of `floor.test` from memory, inside `startLoading`.
class Floor: URLProtocol {
    static let body = Data(repeating: 0x61, count: Sizes.small)

    /// A session whose loads all have the lowest cost.
    class var session: URLSession {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = nil
        configuration.protocolClasses = [self] + (configuration.protocolClasses ?? [])
        return URLSession(configuration: configuration)
    }

    override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "floor.test" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        // The response is made for each load, as in any protocol: its URL is the request's own.
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url,
                statusCode: 200,
                httpVersion: "HTTP/1.1",
                headerFields: ["Content-Type": "text/plain"]
            )
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Self.body)
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

/// The lowest possible cost of a protocol whose loads no cancel can freeze: they end on the delegate queue.
final class CuredFloor: Floor {
    override func startLoading() {
        if let task { InlineCompletion.current.switchOff(for: task) }
        super.startLoading()
    }
}

enum Sizes {
    /// The size of most measurements' bodies.
    static let small = 16 << 10
    /// The size of the body for measurements of memory and throughput.
    static let large = 256 << 20
}
