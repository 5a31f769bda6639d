#if NIO
import Foundation
import Waystation
import WaystationNIO

/// The example of the article about engines, compiled and not run.
enum EngineExamples {
    static func engine(_ caches: URL) throws -> Interceptor {
        // snippet: comment-engine
        let interceptor = try Interceptor {
            $0.transport = .nio
            $0.rules = [.allow("https://api.example/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: caches)
        }
        // end snippet
        return interceptor
    }
}
#endif
