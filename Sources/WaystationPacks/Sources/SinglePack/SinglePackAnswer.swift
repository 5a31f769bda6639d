import Foundation

/// The answer of a server with one pack, as JSON.
///
/// ```json
/// {"updatePackageVersion": "1.10.0", "updatePackageUrl": "https://cdn.example/app-1.10.0.zip", "miniVersion": "1.8",
///  "networkType": "wifi", "status": 1, "isPatch": false, "whitelist": ["https://shop.example/app/"]}
/// ```
///
/// Every member may be missing, `null` or empty. Versions and `networkType` may be strings or numbers (a version as a
/// number loses its trailing zeros: 1.10 is then 1.1), and `status` a number or a string of one. `isPatch` may be
/// `true`, `false`, 0, 1 or a string of these, and `whitelist` an array of strings, or one string with commas or line
/// ends between the URLs. This library writes strings, a number for `status`, a boolean and an array.
public struct SinglePackAnswer: Sendable, Hashable, Codable {
    /// `updatePackageVersion`: the offered version; nil when there is none.
    public var version: PackVersion?
    /// `updatePackageUrl`: the URL of the zip or the patch, absolute or relative to the server's own URL.
    public var packageURL: String?
    /// `miniVersion`: the lowest version that may still be used.
    public var minimumVersion: PackVersion?
    /// `networkType`: the kind of network to download on.
    public var networkType: String?
    /// `status`: the action to take; see ``SinglePackSource/meanings``.
    public var status: Int?
    /// `isPatch`: whether the URL is that of a patch for the client's own zip; false by default.
    public var isPatch: Bool
    /// `whitelist`: the URLs to intercept; nil when the server did not say.
    public var whitelist: [String]?

    /// Makes an answer.
    public init(
        version: PackVersion? = nil,
        packageURL: String? = nil,
        minimumVersion: PackVersion? = nil,
        networkType: String? = nil,
        status: Int? = nil,
        isPatch: Bool = false,
        whitelist: [String]? = nil
    ) {
        self.version = version
        self.packageURL = packageURL
        self.minimumVersion = minimumVersion
        self.networkType = networkType
        self.status = status
        self.isPatch = isPatch
        self.whitelist = whitelist
    }

    private enum CodingKeys: String, CodingKey {
        case version = "updatePackageVersion"
        case packageURL = "updatePackageUrl"
        case minimumVersion = "miniVersion"
        case networkType, status, isPatch, whitelist
    }

    /// Reads every accepted form.
    ///
    /// - Throws: `DecodingError` for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.version(.version)
        packageURL = try container.text(.packageURL)
        minimumVersion = try container.version(.minimumVersion)
        networkType = try container.text(.networkType)
        status = try container.integer(.status)
        isPatch = try container.flag(.isPatch) ?? false
        whitelist = try container.list(.whitelist)
    }
}
