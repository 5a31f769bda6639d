import Foundation
import Logging
import Waystation
import WaystationPacks
import WaystationRecording
import WaystationStorage

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
    /// The web archives that are open already, by their paths.
    private let opened: [String: WebArchive]

    /// Makes a plan; directories of the command line replace those of the file.
    ///
    /// - Parameters:
    ///   - document: The file with the rules.
    ///   - file: Its contents.
    ///   - cache: The directory of the cache.
    ///   - packs: The directory of the packs.
    ///   - authority: The directory of the authority.
    ///   - opened: The web archives that are open already, by their paths.
    init(
        _ document: RulesDocument,
        _ file: RulesFile,
        cache: String? = nil,
        packs: String? = nil,
        authority: String? = nil,
        opened: [String: WebArchive] = [:]
    ) {
        self.document = document
        self.file = file
        let folder = document.folder
        cacheDirectory = cache.map { URL(argument: $0) } ?? file.cache.directory?.url(relativeTo: folder)
        packsDirectory = packs.map { URL(argument: $0) } ?? file.packs?.url(relativeTo: folder)
        authorityDirectory = authority.map { URL(argument: $0) } ?? file.authority?.url(relativeTo: folder)
        self.opened = opened
    }

    /// The rules of the file with the web archives that they name.
    private func rules(_ archives: [String: WebArchive]) -> [Rule] {
        file.rules.flatMap { $0.rules(in: document.name, relativeTo: document.folder, archives: archives) }
    }

    /// Opens the directories and the web archives, and makes the interceptor.
    ///
    /// - Throws: `RulesFile.Problems` when a web archive cannot be opened.
    func interceptor(_ logger: Logger) throws -> OpenedRules {
        var configuration = Interceptor.Configuration()
        configuration.logger = logger
        configuration.rules = rules(try file.archives(in: document.folder, opened))
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

extension RulesFile {
    /// Opens the web archives that the rules name.
    fileprivate func archives(
        in folder: URL,
        _ opened: [String: WebArchive]
    ) throws(Problems) -> [String: WebArchive] {
        var archives = opened
        var problems: [RulesFileProblem] = []
        for case .archive(let file, _) in rules.flatMap({ $0.sources ?? [] }) where archives[file.path] == nil {
            let url = file.path.hasPrefix("/") ? URL(filePath: file.path) : folder.appending(path: file.path)
            do throws(RecordingError) { archives[file.path] = try WebArchive(contentsOf: url) } catch {
                problems.append(RulesFileProblem(file.place, error.message))
            }
        }
        if !problems.isEmpty { throw Problems(problems: problems) }
        return archives
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

#if Gateway
import WaystationGateway

extension GatewayPlan {
    /// Opens the authority, and makes one if the directory has none for the rules.
    ///
    /// - Returns: The authority; nil if the plan has no directory for one.
    /// - Throws: `RulesFile.Problems` at the place of the directory if the rules allow no authority;
    ///   `CertificateAuthorityError` otherwise.
    func authority() throws -> CertificateAuthority? {
        guard let authorityDirectory else { return nil }
        do { return try CertificateAuthority.open(in: authorityDirectory, for: rules(opened)) } catch {
            guard error.code == .invalidRules, let place = file.authority?.place else { throw error }
            throw RulesFile.Problems(problems: [RulesFileProblem(place, error.message)])
        }
    }

    /// The warnings of the authority, which is opened for them.
    func authorityWarnings() throws -> [String] { try authority()?.warnings ?? [] }
}

extension CertificateAuthority {
    /// Warnings about rules that have no effect on https.
    var warnings: [String] {
        if uncertifiedPatterns.isEmpty { return [] }
        let list = uncertifiedPatterns.map { "`\($0)`" }.joined(separator: ", ")
        return ["no certificates are made for the hosts of \(list): connections to them are tunnels, without rules"]
    }
}
#else
extension GatewayPlan {
    /// None: only the gateway can open an authority.
    func authorityWarnings() throws -> [String] { [] }
}
#endif

/// A rules file on disk.
struct RulesDocument {
    /// The path as the user wrote it, for messages.
    let name: String
    /// The folder of the file, to which its paths are relative.
    let folder: URL
    private let text: String

    /// The largest size of a rules file, in bytes.
    private static let maximumSize = 4 << 20

    /// The document of rules that no file has.
    ///
    /// - Parameter archive: The web archive from which all pages come.
    init(of archive: URL) {
        name = archive.path(percentEncoded: false).printable
        folder = archive.deletingLastPathComponent()
        text = ""
    }

    /// Reads the file.
    ///
    /// - Throws: `GatewayFailure` when it cannot be read.
    init(_ path: String) throws(GatewayFailure) {
        name = path.printable
        let url = URL(argument: path)
        folder = url.deletingLastPathComponent()
        let data: Data
        do { data = try Data(readingFile: url, limit: Self.maximumSize) } catch {
            guard error.code != EOVERFLOW else {
                throw .unreadable("\(name) has more than \(Self.maximumSize) bytes: a rules file may not")
            }
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: url.path(percentEncoded: false), isDirectory: &isFolder)
            guard exists else { throw .unreadable("\(name) does not exist: check the path") }
            guard !isFolder.boolValue else { throw .unreadable("\(name) is a directory: give the rules file") }
            throw .unreadable("\(name) cannot be read: \(error)")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
            throw .invalidRules("\(name):\(line): the line is not UTF-8 text: save the file in UTF-8")
        }
        self.text = text
    }

    /// Reads the rules.
    ///
    /// - Parameter surroundings: The directories that the command line provides.
    /// - Returns: The rules.
    /// - Throws: All mistakes, those of directories that do not exist included.
    func rules(beside surroundings: RulesFile.Surroundings) throws(RulesFile.Problems) -> RulesFile {
        let file = try RulesFile(text, beside: surroundings)
        let missing = file.rules.flatMap { $0.sources ?? [] }.compactMap { problem($0) }
        if !missing.isEmpty { throw RulesFile.Problems(problems: missing) }
        return file
    }

    private func problem(_ source: RuleSetting.Source) -> RulesFileProblem? {
        guard case .files(let directory, _) = source else { return nil }
        let path = directory.url(relativeTo: folder).path(percentEncoded: false)
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { return nil }
        let reason = FileManager.default.fileExists(atPath: path) ? "is not a directory" : "does not exist"
        return RulesFileProblem(directory.place, "the directory \(path) \(reason)")
    }
}
