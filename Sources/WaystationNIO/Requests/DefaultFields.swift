#if NIO
import Foundation

/// The fields that plain `URLSession` adds to every request that lacks them.
enum DefaultFields {
    /// `User-Agent` as Foundation sends it: the name of the process and the version of the libcurl that is loaded.
    static let userAgent: String = {
        let agent = "\(ProcessInfo.processInfo.processName) (unknown version)"
        guard let version = loadedLibcurlVersion() else { return agent }
        return "\(agent) curl/\(version)"
    }()

    /// `Accept-Language` as Foundation sends it: the language of the current locale.
    static var acceptLanguage: String? { Locale.current.language.languageCode?.identifier }

    /// Foundation links libcurl, so its functions are in the process; the engine itself does not use them.
    private static func loadedLibcurlVersion() -> Substring? {
        typealias VersionFunction = @convention(c) () -> UnsafePointer<CChar>?
        guard let symbol = dlsym(nil, "curl_version") else { return nil }
        guard let text = unsafeBitCast(symbol, to: VersionFunction.self)() else { return nil }
        // The text is "libcurl/7.88.1 OpenSSL/3.0.17 …".
        return String(cString: text).split(separator: " ").first?.split(separator: "/").last
    }
}
#endif
