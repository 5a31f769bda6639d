package import Foundation
package import Waystation
import WaystationPacks

/// A rule of a rules file.
package struct RuleSetting: Sendable {
    /// A source of answers.
    ///
    /// The last one of a rule ends its chain.
    package enum Source: Sendable {
        case network
        case cache(CacheStrategy)
        case files(PathSetting, at: String)
        case pack(overlay: CacheStrategy?)
        case nowhere
    }

    package let patterns: [String]
    package let methods: Set<String>?
    /// The sources in the order in which they are asked; nil blocks the requests.
    package let sources: [Source]?
    /// The place of the rule's header.
    package let place: TextPlace

    /// The rules of the framework, one for each pattern.
    ///
    /// - Parameters:
    ///   - file: The name of the file, for messages.
    ///   - folder: The folder of the file, for relative paths.
    /// - Returns: The rules.
    package func rules(in file: String, relativeTo folder: URL) -> [Rule] {
        patterns.map { pattern in
            guard let sources else { return .block(pattern, methods: methods, fileID: file, line: place.line) }
            return .allow(
                pattern,
                methods: methods,
                via: Route(sources[...], relativeTo: folder),
                fileID: file,
                line: place.line
            )
        }
    }
}

extension Route {
    /// A chain of sources; after files and packs the network follows, unless another source is named.
    fileprivate init(_ sources: ArraySlice<RuleSetting.Source>, relativeTo folder: URL) {
        var rest: Route { Route(sources.dropFirst(), relativeTo: folder) }
        self =
            switch sources.first {
            case nil, .network: .network
            case .nowhere: .nowhere
            case .cache(let strategy): .cache(strategy)
            case .files(let directory, let base): .files(in: directory.url(relativeTo: folder), at: base, orElse: rest)
            case .pack(nil): .pack(orElse: rest)
            case .pack(let overlay?): .pack(overlay: overlay, orElse: rest)
            }
    }
}

extension PathSetting {
    /// The directory that the path names.
    package func url(relativeTo folder: URL) -> URL {
        path.hasPrefix("/") ? URL(filePath: path, directoryHint: .isDirectory) : folder.appending(path: path)
    }
}
