import ArgumentParser
import Foundation
import HTTPTypes
import WaystationHTTP
import WaystationStorage

/// The store that a command works on.
struct StoreOptions: ParsableArguments {
    @Option(name: .customLong("in"), help: ArgumentHelp("The directory of the app's cache.", valueName: "dir"))
    var directory: String

    func inspector() throws -> StoreInspector { try StoreInspector(directory: URL(argument: directory)) }

    /// Opens the store for changes, after checking that it exists; does not evict anything by itself.
    func store() throws -> ResponseStore {
        _ = try inspector()
        return ResponseStore(directory: URL(argument: directory), limits: .unlimited)
    }

    /// Opens the store to add responses.
    ///
    /// Creates it if the directory is empty or missing, but never in a directory with other files.
    func storeOrNew() throws -> ResponseStore {
        let folder = URL(argument: directory)
        let contents = try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
        let isFile = FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) && contents == nil
        if isFile || contents?.isEmpty == false { return try store() }
        return ResponseStore(directory: folder, limits: .unlimited)
    }
}

/// The responses that a command works on.
struct ScopeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only responses of this URL.", valueName: "url"))
    var url: String?

    @Option(help: ArgumentHelp("Only responses whose URLs begin with this text.", valueName: "text"))
    var prefix: String?

    @Option(help: ArgumentHelp("Only responses of this host, on any port; not of its subdomains.", valueName: "name"))
    var host: String?

    @Option(help: ArgumentHelp("Only responses with this tag of the app's.", valueName: "name"))
    var tag: String?

    @Option(help: ArgumentHelp("Only responses of this group (RFC 9875), of the --origin.", valueName: "name"))
    var group: String?

    @Option(help: ArgumentHelp("The origin of the group, such as https://shop.example.", valueName: "url"))
    var origin: String?

    @Option(help: ArgumentHelp("Only responses of this partition; empty means the shared one.", valueName: "name"))
    var partition: String?

    func validate() throws {
        if [url, prefix, host, tag, group].compactMap(\.self).count > 1 {
            throw ValidationError("Give one of --url, --prefix, --host, --tag and --group.")
        }
        if label != nil, partition != nil {
            throw ValidationError("--partition cannot be combined with --tag or --group: they select in all of them.")
        }
        if (group == nil) != (origin == nil) {
            throw ValidationError("Give --group and --origin together: equal groups of two origins are different ones.")
        }
        if let origin, CanonicalURL(origin) == nil { throw ValidationError.notAbsolute(origin) }
        if let url, CanonicalURL(url) == nil { throw ValidationError.notAbsolute(url) }
        if let host, CanonicalURL.host(host) == nil { throw ValidationError.notAHost(host) }
    }

    var isEverything: Bool { url == nil && prefix == nil && host == nil && label == nil && partition == nil }

    /// The tag or group of the responses; nil if their keys decide.
    var label: ResponseLabel? {
        if let tag { return .tag(tag) }
        guard let group, let origin = origin.flatMap({ CanonicalURL($0)?.origin }) else { return nil }
        return .group(group, origin: origin)
    }

    var scope: ResponseScope {
        if let label { return .label(label) }
        if let url { return .url(CanonicalURL(url)?.string ?? url, partition: partition) }
        if let prefix { return .prefix(prefix, partition: partition) }
        if let host { return .host(CanonicalURL.host(host) ?? host, partition: partition) }
        return partition.map { .partition($0) } ?? .all
    }
}

extension ValidationError {
    /// The error for an argument that is not an absolute URL.
    static func notAbsolute(_ url: String) -> ValidationError {
        ValidationError("“\(url.printable)” is not an absolute URL: write one such as https://shop.example/app/.")
    }
}

extension ValidationError {
    /// The error for an argument that is not the name of a host.
    static func notAHost(_ name: String) -> ValidationError {
        ValidationError(
            "“\(name.printable)” is not a host: write a name or an address without scheme and port, such as "
                + "shop.example; --prefix selects the responses of a port."
        )
    }
}

/// A size argument, such as `200MB`, `64KiB` or `1000`.
struct SizeArgument: ExpressibleByArgument {
    let count: ByteCount

    init?(argument: String) {
        guard let count = ByteCount(written: argument) else { return nil }
        self.count = count
    }
}

/// A duration argument, such as `90s`, `15m`, `12h` or `30d`.
struct AgeArgument: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        guard let duration = Duration(written: argument) else { return nil }
        self.duration = duration
    }
}

/// An error of a command that reads a store.
struct CacheFailure: CodedError {
    let code: String
    let message: String
}

extension StoreError.Code {
    /// The exit code of the tool.
    var exitCode: ExitCode {
        switch self {
        case .unavailable, .full: .disk
        default: .refused
        }
    }
}

/// Formats fields for output; values that grant access are hidden unless the user asks for them.
struct FieldDisplay {
    let showsSecrets: Bool

    /// The text in place of a hidden value.
    static let redacted = "(hidden)"

    func pairs(_ fields: HTTPFields) -> [[String]] { fields.map { [$0.name.rawName, value($0.name, $0.value)] } }

    /// The request fields that selected a variant, such as `accept-language: de`.
    func variant(_ vary: VaryKey) -> [String] {
        vary.nominees.map { nominee in
            guard let value = nominee.value else { return nominee.name.canonicalName }
            return "\(nominee.name.canonicalName): \(self.value(nominee.name, value))"
        }
    }

    private func value(_ name: HTTPField.Name, _ value: String) -> String {
        SecretNames.standard.contains(name.canonicalName) && !showsSecrets ? Self.redacted : value
    }
}

extension String {
    /// The text without characters that would control a terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(unicodeScalars.map { $0.isHidden ? "\u{FFFD}" : $0 })
        )
    }
}
