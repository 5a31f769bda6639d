import Foundation
import Waystation
import WaystationPacks
import WaystationRecording
import WaystationStorage

/// A rule of a rules file.
struct RuleSetting: Sendable {
    /// A source of answers.
    ///
    /// The last one of a rule ends its chain.
    enum Source: Sendable {
        case network
        case cache(CacheStrategy, key: CacheKey, tags: [String])
        case files(PathSetting, at: String)
        case pack(overlay: CacheStrategy?)
        case archive(PathSetting, at: Date?)
        case nowhere
    }

    let patterns: [String]
    let methods: Set<String>?
    /// The sources in the order in which they are asked; nil blocks the requests.
    let sources: [Source]?
    /// The place of the rule's header.
    let place: TextPlace

    /// The rules of the framework, one for each pattern.
    ///
    /// - Parameters:
    ///   - file: The name of the file, for messages.
    ///   - folder: The folder of the file, for relative paths.
    ///   - archives: The web archives that the rules name, by their paths.
    /// - Returns: The rules.
    func rules(in file: String, relativeTo folder: URL, archives: [String: WebArchive] = [:]) -> [Rule] {
        patterns.map { pattern in
            guard let sources else { return .block(pattern, methods: methods, fileID: file, line: place.line) }
            return .allow(
                pattern,
                methods: methods,
                via: Route(sources[...], relativeTo: folder, archives),
                fileID: file,
                line: place.line
            )
        }
    }
}

extension Route {
    /// A chain of sources; after files and packs the network follows, and after an archive nothing, unless another source is
    /// named.
    fileprivate init(
        _ sources: ArraySlice<RuleSetting.Source>,
        relativeTo folder: URL,
        _ archives: [String: WebArchive]
    ) {
        var rest: Route { Route(sources.dropFirst(), relativeTo: folder, archives) }
        self =
            switch sources.first {
            case nil, .network: .network
            case .nowhere: .nowhere
            case .cache(let strategy, let key, let tags): .cache(strategy, key: key, tags: tags)
            case .files(let directory, let base): .files(in: directory.url(relativeTo: folder), at: base, orElse: rest)
            case .archive(let file, let time):
                if let archive = archives[file.path] {
                    .source(archive.nearest(to: time), orElse: sources.count > 1 ? rest : .nowhere)
                } else {
                    .nowhere
                }
            case .pack(nil): .pack(orElse: rest)
            case .pack(let overlay?): .pack(overlay: overlay, orElse: rest)
            }
    }
}

extension PathSetting {
    /// The directory that the path names.
    func url(relativeTo folder: URL) -> URL {
        path.hasPrefix("/") ? URL(filePath: path, directoryHint: .isDirectory) : folder.appending(path: path)
    }
}

extension ByteCount {
    /// Reads a size such as `200MB`, `64KiB` or `1000`.
    init?(written text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits) else { return nil }
        switch text.dropFirst(digits.count).lowercased() {
        case "", "b": self = .bytes(number)
        case "kb": self = .kilobytes(number)
        case "mb": self = .megabytes(number)
        case "gb": self = .gigabytes(number)
        case "kib": self = .kibibytes(number)
        case "mib": self = .mebibytes(number)
        case "gib": self = .gibibytes(number)
        default: return nil
        }
    }
}

extension Duration {
    /// Reads a time such as `90s`, `15m`, `12h` or `30d`.
    init?(written text: String) {
        guard let unit = text.last, let number = Int(text.dropLast()), number >= 0 else { return nil }
        let lengths: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let length = lengths[unit] else { return nil }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: length)
        // Beyond this a date plus the time is no longer a valid date.
        guard !overflow, seconds <= 100_000 * 86_400 else { return nil }
        self = .seconds(seconds)
    }
}
