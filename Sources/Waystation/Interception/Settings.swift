#if Configuration
public import Configuration
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

extension Interceptor.Configuration {
    /// Makes a configuration with the options that a configuration of swift-configuration names, and the default ones.
    ///
    /// ```swift
    /// var configuration = try await Interceptor.Configuration(reading: settings.scoped(to: "waystation"))
    /// configuration.rules = rules
    /// let interceptor = try Interceptor(configuration)
    /// ```
    ///
    /// | Key | Value |
    /// | --- | --- |
    /// | `cache.directory` | the path of a folder: sets ``cache`` to a cache in it |
    /// | `cache.maximumSize` | the size of the cache in bytes, 268,435,456 by default |
    /// | `cache.maximumAge` | how long a response is kept, in seconds, 2,592,000 by default |
    /// | `cache.maximumEntrySize` | the size of the largest body that is stored, in bytes, 33,554,432 by default |
    /// | `cache.memorySize` | the size of the bodies that are also kept in memory, in bytes, 33,554,432 by default |
    /// | `storesCodedBodies` | ``storesCodedBodies``, true or false |
    /// | `leavesTasksToFoundation` | ``leavesTasksToFoundation``, true or false |
    /// | `storageTimeout` | ``storageTimeout`` in seconds |
    ///
    /// The other keys of the cache need `cache.directory`. Rules are not settings: they are in code. Keys, also those in
    /// errors, are relative to the scope of the reader.
    ///
    /// - Parameter settings: The settings, with the keys above.
    /// - Throws: ``WaystationError`` with the code `invalidSetting`, whose message names the key, or `unusableDirectory`.
    public init(reading settings: ConfigReader) async throws(WaystationError) {
        self.init()
        let settings = Settings(settings)
        if let value = try await settings.flag("storesCodedBodies") { storesCodedBodies = value }
        if let value = try await settings.flag("leavesTasksToFoundation") { leavesTasksToFoundation = value }
        if let value = try await settings.number("storageTimeout", from: 0) { storageTimeout = .seconds(value) }
        cache = try await settings.cache()
    }
}

/// Settings whose errors name the key.
private struct Settings {
    private let reader: ConfigReader

    init(_ reader: ConfigReader) { self.reader = reader }

    func flag(_ key: String) async throws(WaystationError) -> Bool? {
        try await value(key, "true or false") { try await reader.fetchBool(forKey: $0) }
    }

    func number(_ key: String, from least: Int) async throws(WaystationError) -> Int? {
        let meaning = "a whole number from \(least) on"
        let number = try await value(key, meaning) { try await reader.fetchInt(forKey: $0) }
        guard let number, number < least else { return number }
        throw WaystationError(.invalidSetting, "the setting \(key) is \(number), and must be \(meaning)")
    }

    /// The cache; nil if no directory is set.
    func cache() async throws(WaystationError) -> ResponseCache? {
        let path = try await value("cache.directory", "the path of a folder") {
            try await reader.fetchString(forKey: $0)
        }
        var numbers: [String: Int] = [:]
        for key in ["maximumSize", "maximumAge", "maximumEntrySize", "memorySize"] {
            numbers[key] = try await number("cache.\(key)", from: key == "memorySize" ? 0 : 1)
        }
        guard let path, !path.isEmpty else {
            guard let key = numbers.keys.min() else { return nil }
            let message = "the setting cache.\(key) needs the setting cache.directory, which is not there"
            throw WaystationError(.invalidSetting, message)
        }
        var limits = StoreLimits()
        if let bytes = numbers["maximumSize"] { limits.maximumSize = .bytes(bytes) }
        if let seconds = numbers["maximumAge"] { limits.maximumAge = .seconds(seconds) }
        if let bytes = numbers["maximumEntrySize"] { limits.maximumEntrySize = .bytes(bytes) }
        if let bytes = numbers["memorySize"] { limits.residentLimit = .bytes(bytes) }
        do {
            return try ResponseCache(directory: URL(filePath: path), limits: limits, environment: StoreEnvironment())
        } catch {
            let message = "the folder \(path.shown()) of the setting cache.directory cannot hold a cache: \(error)"
            throw WaystationError(.unusableDirectory, message, cause: error)
        }
    }

    private func value<Value>(
        _ key: String,
        _ meaning: String,
        _ fetch: (ConfigKey) async throws -> Value?
    ) async throws(WaystationError) -> Value? {
        do {
            return try await fetch(ConfigKey(key))
        } catch {
            throw WaystationError(.invalidSetting, "the setting \(key) must be \(meaning): \(error)", cause: error)
        }
    }
}
#endif
