#if Gateway
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals
import Waystation
import WaystationGateway
import WaystationPacks

/// The examples of the article and the comments about gateways, compiled and not run.
enum GatewayExamples {
    static func gateway(_ library: PackLibrary, _ start: URL) async throws -> URL? {
        // snippet: comment-gateway-article
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .pack)]
            $0.packs = library
        }
        let gateway = Gateway(interceptor) { $0.port = 8080 }
        try await gateway.start()
        let page = gateway.url(for: start)
        // end snippet
        return page
    }

    static func start(_ interceptor: Interceptor, _ start: URL, show: (URL?) -> Void) async throws {
        // snippet: comment-gateway
        let gateway = Gateway(interceptor)
        try await gateway.start()
        show(gateway.url(for: start))  // for https://shop.example/app/: http://shop-example.localhost:43121/app/
        // end snippet
    }

    static func inspect(_ interceptor: Interceptor, show: (URL?) -> Void) async throws {
        // snippet: comment-gateway-inspector
        let gateway = Gateway(interceptor) { $0.inspector = true }
        try await gateway.start()
        show(gateway.inspectorURL)
        // end snippet
    }

    static func secure(_ interceptor: Interceptor, _ rules: [Rule], in directory: URL) throws -> Gateway {
        // snippet: comment-gateway-authority
        let authority = try CertificateAuthority.open(in: directory, for: rules)
        let gateway = Gateway(interceptor) {
            $0.isProxy = true
            $0.authority = authority
        }
        for steps in authority.trustSteps { print(steps) }
        // end snippet
        return gateway
    }

    static func serve(_ gateway: Gateway, _ logger: Logger) async throws {
        // snippet: comment-gateway-service
        let services = ServiceGroup(services: [gateway], gracefulShutdownSignals: [.sigterm], logger: logger)
        try await services.run()
        // end snippet
    }
}
#endif
