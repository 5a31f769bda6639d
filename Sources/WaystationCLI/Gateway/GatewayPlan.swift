import Foundation
import Logging
import Waystation
import WaystationPacks
import WaystationRulesFile

#if Gateway
import WaystationNIO
#endif

/// A gateway as a rules file and the command line describe it, before anything is opened.
struct GatewayPlan {
    let document: RulesDocument
    let file: RulesFile
    /// The directory of the cache; nil if nothing is stored.
    var cacheDirectory: URL?
    /// The directory of the packs; nil if neither the file nor the command line names one.
    var packsDirectory: URL?
    /// The directory of the authority; nil if https is only tunnelled.
    var authorityDirectory: URL?

    /// Makes a plan; directories of the command line replace those of the file.
    init(
        _ document: RulesDocument,
        _ file: RulesFile,
        cache: String? = nil,
        packs: String? = nil,
        authority: String? = nil
    ) {
        self.document = document
        self.file = file
        let folder = document.folder
        cacheDirectory = cache.map { URL(argument: $0) } ?? file.cache.directory?.url(relativeTo: folder)
        packsDirectory = packs.map { URL(argument: $0) } ?? file.packs?.url(relativeTo: folder)
        authorityDirectory = authority.map { URL(argument: $0) } ?? file.authority?.url(relativeTo: folder)
    }

    /// The rules of the file.
    var rules: [Rule] { file.rules.flatMap { $0.rules(in: document.name, relativeTo: document.folder) } }

    /// Opens the directories and makes the interceptor.
    func interceptor(_ logger: Logger) throws -> OpenedRules {
        var configuration = Interceptor.Configuration()
        configuration.logger = logger
        configuration.rules = rules
        #if Gateway
        // An origin can end a process that uses Foundation's engine (Docs/FoundationTraps.md, L35).
        configuration.transport = .nio
        #endif
        configuration.cache = try cache()
        configuration.packs = try packsDirectory.map { try PackLibrary(directory: $0) }
        configuration.headerBody = file.headerBody
        configuration.storesCodedBodies = file.cache.storesCodedBodies ?? configuration.storesCodedBodies
        return OpenedRules(
            interceptor: try Interceptor(configuration),
            cache: configuration.cache,
            emptyPacks: configuration.packs.flatMap { $0.modules.isEmpty ? $0.directory : nil },
            pages: file.startPages.compactMap { URL(string: $0) }
        )
    }

    private func cache() throws -> ResponseCache? {
        guard let cacheDirectory else { return nil }
        let settings = file.cache
        return try ResponseCache(
            directory: cacheDirectory,
            maximumSize: settings.maximumSize ?? .mebibytes(256),
            maximumAge: settings.maximumAge ?? .days(30),
            maximumEntrySize: settings.maximumEntrySize ?? .mebibytes(32),
            memorySize: settings.memorySize ?? .mebibytes(32)
        )
    }
}

/// The rules of a plan with the directories that they use.
struct OpenedRules {
    let interceptor: Interceptor
    let cache: ResponseCache?
    /// The directory of the packs if no pack is installed in it.
    var emptyPacks: URL?
    /// The pages at which a user begins.
    let pages: [URL]

    /// Warnings about probable mistakes, in addition to the interceptor's own.
    var warnings: [String] {
        var warnings: [String] = []
        if let path = emptyPacks?.path(percentEncoded: false) {
            warnings.append("no pack is installed in \(path): install one by `waystation pack install`")
        }
        for page in pages {
            switch interceptor.decision(for: page) {
            case .untouched: warnings.append("no rule takes the start page \(page.absoluteString)")
            case .blocked: warnings.append("a rule blocks the start page \(page.absoluteString)")
            case .allowed, .openedElsewhere: break
            }
        }
        return warnings
    }
}
