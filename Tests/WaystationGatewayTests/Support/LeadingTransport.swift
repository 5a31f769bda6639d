#if Gateway
import Foundation
import FoundationNetworking
import Waystation

/// The engine of Foundation, which finds one host at a port of this machine, without TLS.
struct LeadingTransport: Transport {
    private let engine: URLSessionTransport
    private let host: String
    private let port: UInt16

    init(_ configuration: URLSessionConfiguration, from host: String, to port: UInt16) {
        engine = URLSessionTransport(configuration: configuration)
        self.host = host
        self.port = port
    }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        guard let url = request.url, url.host() == host,
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return engine.start(request, receiver: receiver) }
        parts.scheme = "http"
        parts.host = "127.0.0.1"
        parts.port = Int(port)
        var led = request
        led.url = parts.url
        return engine.start(led, receiver: receiver)
    }
}
#endif
