import ArgumentParser
import Foundation
import WaystationPacks
import WaystationPublishing

/// The description of a file or folder.
struct InspectionResult: CommandResult {
    let path: String
    let kind: String
    var module: ModuleID?
    var version: PackVersion?
    var baseURLs: [String]?
    var released: Date?
    var minimumAppVersion: PackVersion?
    var minimumPackVersion: PackVersion?
    var files: Int?
    var contentSize: Int?
    var manifest: PackDigest?
    var base: PackDigest?
    var result: PackDigest?
    var resultSize: Int?
    var size: Int?
    var sha256: String?
    var md5: String?

    init(path: String, _ inspection: PackInspection) {
        self.path = path
        switch inspection {
        case .zip(let manifest, let digest, let file):
            kind = "zip"
            describe(manifest, digest)
            describe(file)
        case .folder(let manifest, let digest):
            kind = "folder"
            describe(manifest, digest)
        case .contentPatch(let base, let result, let file):
            kind = "contentPatch"
            (self.base, self.result) = (base, result)
            describe(file)
        case .zipPatch(let resultSize, let file):
            kind = "zipPatch"
            self.resultSize = resultSize
            describe(file)
        }
    }

    private mutating func describe(_ manifest: PackManifest, _ digest: PackDigest) {
        module = manifest.module
        version = manifest.version
        baseURLs = manifest.baseURLs
        released = manifest.released
        minimumAppVersion = manifest.minimumAppVersion
        minimumPackVersion = manifest.minimumPackVersion
        files = manifest.files.count
        contentSize = manifest.contentSize
        self.manifest = digest
    }

    private mutating func describe(_ file: PackInspection.Properties) {
        size = file.size
        sha256 = file.sha256.hex
        md5 = file.md5.hex
    }

    var text: String {
        var rows: [[String]] = []
        func add(_ name: String, _ value: (some Any)?) { if let value { rows.append([name, "\(value)"]) } }
        let what = module.flatMap { module in version.map { "pack of \(module) \($0)" } }
        rows.append([path, what ?? (kind == "contentPatch" ? "content patch" : "zip patch (BSDIFF40)")])
        if let files, let contentSize { add("files", "\(files), \(Words.bytes(contentSize))") }
        for base in baseURLs ?? [] { add("base URL", base) }
        add("released", released?.formatted(.iso8601))
        add("needs app", minimumAppVersion)
        add("lowest version", minimumPackVersion)
        add("manifest", manifest)
        add("from manifest", base)
        add("to manifest", result)
        add("makes", resultSize.map(Words.bytes))
        add("size", size.map(Words.bytes))
        add("SHA-256", sha256)
        add("MD5", md5)
        return rows[0].joined(separator: ": ") + "\n" + Words.table(rows.dropFirst().map { ["  " + $0[0], $0[1]] })
    }
}

/// The result of an update.
struct UpdateResult: CommandResult {
    struct Problem: Encodable {
        let code: String
        let message: String

        init(_ error: PackError) {
            code = error.code.description
            message = error.message
        }
    }

    struct Outcome: Encodable {
        let module: ModuleID
        let from: PackVersion?
        let to: PackVersion?
        let outcome: String
        var way: String?
        var fetched: Int?
        var whole: Int?
        var reason: String?
        var error: Problem?

        init(_ outcome: ModuleOutcome) {
            module = outcome.module
            from = outcome.from
            to = outcome.to
            switch outcome.kind {
            case .upToDate: self.outcome = "upToDate"
            case .updated(let way, let fetched, let whole):
                self.outcome = "updated"
                self.way = way.rawValue
                self.fetched = fetched
                self.whole = whole
            case .activated: self.outcome = "activated"
            case .enabled: self.outcome = "enabled"
            case .disabled: self.outcome = "disabled"
            case .postponed(let reason):
                self.outcome = "postponed"
                self.reason = "\(reason)"
            case .failed(let error):
                self.outcome = "failed"
                self.error = Problem(error)
            }
        }
    }

    let outcomes: [Outcome]
    let problems: [Problem]
    let throttledUntil: Date?
    let text: String
    /// The exit code of the first failure; nil if nothing failed.
    let exitCode: ExitCode?

    init(_ report: UpdateReport) {
        outcomes = report.outcomes.map(Outcome.init)
        problems = report.problems.map(Problem.init)
        throttledUntil = report.throttledUntil
        text = report.description.isEmpty ? "the source offers nothing" : report.description
        let failures = report.outcomes.compactMap { outcome -> PackError? in
            if case .failed(let error) = outcome.kind { error } else { nil }
        }
        exitCode = (failures + report.problems).first?.code.exitCode
    }

    private enum CodingKeys: CodingKey { case outcomes, problems, throttledUntil }
}
