import Foundation
import Waystation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads that show whether a trap is there, by a plain session or by one that Waystation intercepts.
struct TrapLoads {
    let way: Trap.Way

    init(_ way: Trap.Way) { self.way = way }

    /// Makes the loads that try out a trap, and returns what went wrong.
    ///
    /// - Returns: A description of the fault; nil if the loads behaved correctly.
    func fault(of trap: Trap) async throws -> String? {
        switch trap {
        case .loadInsideProtocol: try await loadInsideProtocol()
        case .markedRequest: try await markedRequest()
        case .redirectOfProtocol: try await redirectOfProtocol()
        case .partsOfBody: try await partsOfBody()
        case .downloadOfProtocol: try await downloadOfProtocol()
        case .storedResponse: try await storedResponse()
        case .queryOfStoredResponse: try await queryOfStoredResponse()
        case .registeredClass: try await registeredClass()
        case .canonicalRequest: try await canonicalRequest()
        case .bodyOfUpload: try await bodyOfUpload()
        case .unansweredChallenge: try await unansweredChallenge()
        case .refusedResponse: try await refusedResponse()
        case .pathOfCookie: try await pathOfCookie()
        case .fieldsOfDecodedBody: try await fieldsOfDecodedBody()
        case .bodyAfterRedirect: try await bodyAfterRedirect()
        case .framingOfStream: try await framingOfStream()
        case .closedStream: try await closedStream()
        case .suspendedTask: try await suspendedTask()
        case .intervalOfInitializer: try await intervalOfInitializer()
        case .interimResponse: try await interimResponse()
        case .trailer: try await trailer()
        case .droppedConnection: try await droppedConnection()
        case .credentialBehindRedirect: try await credentialBehindRedirect()
        case .storedCredential: storedCredential()
        case .numberInField: try await numberInField()
        case .relativeLocation: try await relativeLocation()
        case .cutCoding: try await cutCoding()
        }
    }

    // MARK: - Sessions

    /// The URLs of all origins of the doctor.
    static let origins = "http://127.0.0.1:*/**"

    /// A session whose loads reach a protocol class, if one is given, or go through Waystation to the network.
    func session(
        through plainClass: AnyClass? = nil,
        delegate: (any URLSessionDelegate)? = nil
    ) throws -> URLSession {
        try session(delegate: delegate) { configuration in
            // Waystation's own transport sends these loads, because it adds the cookies.
            configuration.cookies = CookieStore()
            configuration.rules = [.allow(Self.origins, via: .network)]
        } plain: { configuration in
            if let plainClass { configuration.protocolClasses = [plainClass] + (configuration.protocolClasses ?? []) }
        }
    }

    /// A session whose loads are answered by Waystation's cache, or by what the plain configuration has.
    func cachingSession(
        in folder: TemporaryFolder,
        storesCodedBodies: Bool = false,
        plain: (URLSessionConfiguration) -> Void
    ) throws -> URLSession {
        try session(
            { configuration in
                configuration.cache = try ResponseCache(directory: folder.url.appending(path: "cache"))
                configuration.storesCodedBodies = storesCodedBodies
                configuration.rules = [.allow(Self.origins, via: .cache(.standard))]
            },
            plain: plain
        )
    }

    func session(
        delegate: (any URLSessionDelegate)? = nil,
        adding fields: [AnyHashable: Any]? = nil,
        _ configure: (inout Interceptor.Configuration) throws -> Void,
        plain: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> URLSession {
        var configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = fields
        switch way {
        case .plain: plain(configuration)
        case .waystation: configuration = configuration.intercepted(by: try Interceptor(configure))
        }
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
}

extension URLResponse {
    var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }
}
