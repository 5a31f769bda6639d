public import Waystation
public import WaystationFoundation

/// Faults of a network, for tests of what an app does with them.
///
/// ```swift
/// let slow = try stubs.makeSession(faults: .slow3G)
/// let offline = try recording.makeSession(faults: .offline)
/// ```
///
/// A rule may have faults on its way to the network, to stubs or to a recording:
///
/// ```swift
/// $0.rules = [.allow("https://api.example/**", via: .network(faults: .flaky(seed: 7)))]
/// ```
///
/// For faults below a cache, give the interceptor a network with faults by ``applied(to:time:)``:
///
/// ```swift
/// $0.makeTransport = {
///     Faults.flaky(seed: 7).applied(to: URLSessionTransport(configuration: $0), time: .real)
/// }
/// ```
///
/// Faults that are chosen by chance depend on the seed, the method, the URL and the number of such requests so far: they
/// are the same in every run, in whatever order the loads of a test happen.
///
/// Times and numbers of bytes below zero count as zero, a bandwidth below 1 as one byte in a second, and times above
/// 1,000,000,000 s, about 30 years, as that.
public struct Faults: Sendable {
    /// The time from the request to the head of its response; none by default.
    public var latency: Duration = .zero
    /// The most by which the latency of a request differs, in both directions; none by default.
    public var jitter: Duration = .zero
    /// The additional time of the first request to each host, as that of a server that has to start; none by default.
    public var slowStart: Duration = .zero
    /// The bytes of response bodies in a second; nil, the default, for no limit.
    public var bytesPerSecond: Int?
    /// The bytes of request bodies in a second; nil, the default, for no limit.
    public var sentBytesPerSecond: Int?
    /// The part of the requests that meet the failure, from 0 to 1; 1 by default.
    ///
    /// A value below 0, or that is not a number, counts as 0, and one above 1 as 1.
    public var probability = 1.0
    /// The seed of everything that happens by chance.
    public var seed: UInt64 = 0
    /// The failure; none by default.
    public var failure: Failure?

    /// The way in which a load fails.
    public struct Failure: Sendable {
        enum Kind: Sendable {
            case instead([URLError.Code])
            case after(bytes: Int, URLError.Code)
            case portal(Data)
        }

        let kind: Kind

        /// An error in place of a response; of several, one by chance.
        public static func error(_ codes: URLError.Code...) -> Failure { Failure(kind: .instead(codes)) }

        /// An error after a number of bytes of the response's body, as from a connection that breaks off or is reset.
        ///
        /// Shorter bodies arrive as a whole.
        public static func loss(
            afterBytes count: Int,
            error: URLError.Code = .networkConnectionLost
        ) -> Failure {
            Failure(kind: .after(bytes: count, error))
        }

        /// A page in place of every `http` response, and an untrusted certificate for `https`: the network of a hotel.
        public static func captivePortal(page: String = "<title>Log in to the network</title>") -> Failure {
            Failure(kind: .portal(Data(page.utf8)))
        }
    }

    /// Makes faults.
    ///
    /// - Parameter configure: Sets the properties that differ from a network without faults.
    public init(_ configure: (inout Faults) -> Void = { _ in }) { configure(&self) }

    // MARK: - Profiles

    /// No faults.
    public static let none = Faults()
    /// Every request fails with `URLError.notConnectedToInternet`.
    public static let offline = failing(.error(.notConnectedToInternet))
    /// Every request fails with `URLError.cannotFindHost`.
    public static let dnsFailure = failing(.error(.cannotFindHost))
    /// Every request fails with `URLError.timedOut`.
    public static let timeOut = failing(.error(.timedOut))
    /// Every response is that of a captive portal.
    public static let captivePortal = failing(.captivePortal())
    /// The throttling `3G` of Chromium's developer tools: 2 s latency, 50 kB/s both ways.
    public static let slow3G = throttled(.milliseconds(2_000), received: 50_000, sent: 50_000)
    /// The throttling `Slow 4G` of Chromium's developer tools: 562.5 ms latency, 180 kB/s and 84.375 kB/s.
    public static let slow4G = throttled(.microseconds(562_500), received: 180_000, sent: 84_375)
    /// The throttling `Fast 4G` of Chromium's developer tools: 165 ms latency, 1.0125 MB/s and 168.75 kB/s.
    public static let fast4G = throttled(.milliseconds(165), received: 1_012_500, sent: 168_750)

    /// Some requests fail: with a lost connection, a refused one or a time-out.
    ///
    /// - Parameters:
    ///   - seed: The seed: another one lets other requests fail.
    ///   - probability: The part of the requests that fail, from 0 to 1; 0.3 by default.
    /// - Returns: The faults.
    public static func flaky(seed: UInt64, probability: Double = 0.3) -> Faults {
        Faults {
            $0.failure = .error(.networkConnectionLost, .cannotConnectToHost, .timedOut)
            $0.seed = seed
            $0.probability = probability
        }
    }

    /// Faults with this failure, for every request.
    public static func failing(_ failure: Failure) -> Faults {
        Faults { $0.failure = failure }
    }

    private static func throttled(_ latency: Duration, received: Int, sent: Int) -> Faults {
        Faults {
            $0.latency = latency
            $0.bytesPerSecond = received
            $0.sentBytesPerSecond = sent
        }
    }

    // MARK: - Applying

    /// A network with these faults.
    ///
    /// - Parameters:
    ///   - transport: The network, stubs or a recording.
    ///   - time: How delays pass; in virtual time by default, in which a load times out as it would on a clock.
    /// - Returns: The network, for `makeTransport`.
    public func applied(to transport: any Transport, time: DelayTime = .virtual) -> any Transport {
        isNone ? transport : FaultyTransport(self, over: transport, time: time)
    }

    private var isNone: Bool {
        latency == .zero && jitter == .zero && slowStart == .zero && bytesPerSecond == nil && sentBytesPerSecond == nil
            && failure == nil
    }
}

extension Route {
    /// The network, with faults.
    ///
    /// ```swift
    /// $0.rules = [
    ///     .allow("https://api.example/**", via: .network(faults: .flaky(seed: 7))),
    ///     .allow("https://img.example/**", via: .network(faults: .slow3G)),
    /// ]
    /// ```
    ///
    /// Requests are sent by the interceptor's own engine. Their responses are not stored, and lost connections are not
    /// repeated, so that the code under test sees each fault. Uploads of a delegate's stream and web sockets of the rule
    /// fail with an explanation, because only Foundation can load them, without faults.
    ///
    /// - Parameters:
    ///   - faults: The faults.
    ///   - time: How delays pass; as on a clock by default.
    /// - Returns: The route.
    public static func network(faults: Faults, time: DelayTime = .real) -> Route {
        .carried(by: FaultyNetworks(faults, time: time), as: "network(faults)")
    }
}
