import Foundation
import Waystation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The faults of one exchange.
package struct FaultPlan {
    /// The time until the head of the response.
    package let delay: Duration
    /// The response in place of that of the network; nil if the network answers.
    let answer: ScriptedTransport.Answer?
    /// The bytes of the response's body before it breaks off, and the error; nil if it is whole.
    let loss: (count: Int, error: URLError.Code)?

    /// Chooses the faults of a request.
    ///
    /// - Parameters:
    ///   - faults: The faults of the network.
    ///   - request: The request.
    ///   - sent: The bytes of the request's body.
    ///   - number: The number of requests with the same method and URL before this one.
    ///   - isFirst: Whether the request is the first one to its host.
    package init(_ faults: Faults, _ request: URLRequest, sent: Int, number: Int, isFirst: Bool) {
        var chance = SeededGenerator(seed: Self.seed(faults.seed, request, number))
        var delay = faults.latency.bounded + (isFirst ? faults.slowStart.bounded : .zero)
        let jitter = faults.jitter.bounded
        if jitter > .zero { delay += jitter * Double.random(in: -1...1, using: &chance) }
        if let rate = faults.sentBytesPerSecond { delay += .seconds(Double(sent) / Double(max(1, rate))) }
        self.delay = max(.zero, delay)
        let fails = faults.probability >= 1 || Double.random(in: 0..<1, using: &chance) < faults.probability
        switch fails ? faults.failure?.kind : nil {
        case .instead(let codes)?:
            answer = .failed(codes.randomElement(using: &chance) ?? .unknown)
            loss = nil
        case .portal(let page)?:
            let isSecure = request.url?.scheme?.lowercased() == "https"
            let fields = ["Content-Type": "text/html", "Content-Length": "\(page.count)", "Cache-Control": "no-store"]
            answer = isSecure ? .failed(.serverCertificateUntrusted) : .status(200, fields: fields, body: page)
            loss = nil
        case .after(let bytes, let code)?:
            answer = nil
            loss = (max(0, bytes), code)
        case nil:
            answer = nil
            loss = nil
        }
    }

    /// A seed that is the same in every process (FNV-1a).
    private static func seed(_ seed: UInt64, _ request: URLRequest, _ number: Int) -> UInt64 {
        let text = "\(seed) \(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "") \(number)"
        return text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
