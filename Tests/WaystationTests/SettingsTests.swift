#if Configuration
import Configuration
import Foundation
import Testing
import Waystation
import WaystationTestSupport

@Suite("The settings of an interceptor")
struct SettingsTests {
    private func read(_ variables: [String: String]) async throws -> Interceptor.Configuration {
        let reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables))
        return try await Interceptor.Configuration(reading: reader.scoped(to: "waystation"))
    }

    @Test("set the options that they name, and no others")
    func named() async throws {
        let folder = try TemporaryDirectory()
        let configuration = try await read([
            "WAYSTATION_CACHE_DIRECTORY": folder.url.path, "WAYSTATION_CACHE_MAXIMUM_SIZE": "1000000",
            "WAYSTATION_STORES_CODED_BODIES": "true", "WAYSTATION_STORAGE_TIMEOUT": "7",
        ])
        #expect(configuration.cache?.directory.path == folder.url.path)
        #expect(configuration.storesCodedBodies)
        #expect(configuration.storageTimeout == .seconds(7))
        #expect(!configuration.leavesTasksToFoundation)
        let unchanged = try await read([:])
        #expect(unchanged.cache == nil && !unchanged.storesCodedBodies && unchanged.storageTimeout == .seconds(3))
    }

    @Test(
        "are refused with their key",
        arguments: [
            ("WAYSTATION_CACHE_MAXIMUM_SIZE", "much", "cache.maximumSize"),
            ("WAYSTATION_CACHE_MAXIMUM_AGE", "0", "cache.maximumAge"),
            ("WAYSTATION_CACHE_MEMORY_SIZE", "5", "cache.directory"),
            ("WAYSTATION_STORES_CODED_BODIES", "maybe", "storesCodedBodies"),
            ("WAYSTATION_STORAGE_TIMEOUT", "-1", "storageTimeout"),
        ]
    )
    func refused(variable: String, value: String, key: String) async throws {
        await #expect {
            try await read([variable: value])
        } throws: { error in
            (error as? WaystationError)?.code == .invalidSetting && "\(error)".contains(key)
        }
    }

    @Test("name a folder that cannot be used")
    func folder() async throws {
        await #expect {
            try await read(["WAYSTATION_CACHE_DIRECTORY": "/dev/null/cache"])
        } throws: { error in
            (error as? WaystationError)?.code == .unusableDirectory && "\(error)".contains("/dev/null/cache")
        }
    }
}
#endif
