import Foundation
import Testing

@testable import WaystationPacks

/// Short forms for values that many tests need.
enum Sample {
    static func version(_ text: String) throws -> PackVersion { try #require(PackVersion(text)) }

    static func module(_ text: String) throws -> ModuleID { try #require(ModuleID(text)) }

    static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    static func inquiry(_ modules: [UpdateInquiry.Module] = []) throws -> UpdateInquiry {
        UpdateInquiry(
            app: AppIdentity(code: "shop", version: try version("2.1"), platform: "linux"),
            modules: modules,
            installID: "install-1"
        )
    }

    static let moment = Date(timeIntervalSince1970: 1_790_000_000)
}

/// The code of the ``PackError`` that an operation throws; nil if it throws none.
func errorCode<Result>(_ operation: () async throws -> Result) async -> PackError.Code? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return (error as? PackError)?.code
    }
}
