import Foundation
@_spi(Processes) import Measuring
import WaystationProcesses
import WaystationTestSupport

extension Benchmark {
    /// The example that crawls a site, with either engine, beside wget.
    static let crawls = Benchmark(
        "crawler/wget",
        "crawler-nio/wget",
        "crawler-nio/crawler",
        "crawler-nio-cpu/crawler-cpu"
    ) {
        let site = try CrawledSite()
        defer { site.stop() }
        let names = ["wget", "crawler", "crawler-nio"]
        var processor = [[Double]](repeating: [], count: names.count)
        let wall = try await interleaved(
            rounds: 5,
            names.enumerated().map { index, name in
                {
                    let outcome = try name == "wget" ? site.mirror() : site.crawl(isNIO: name == "crawler-nio")
                    processor[index].append(outcome.processorMilliseconds)
                    return outcome.milliseconds
                }
            }
        )
        // The first turn is a warm-up here, too.
        let work = processor.compactMap { median(Array($0.dropFirst())) }
        func ratio(_ first: Int, _ second: Int, limit: Double? = nil) -> Figure {
            Figure(
                "\(names[first])/\(names[second])",
                wall[first] / wall[second],
                limit: limit,
                against: ["\(names[first])-ms": wall[first], "\(names[second])-ms": wall[second]]
            )
        }
        return [
            ratio(1, 0), ratio(2, 0, limit: 1), ratio(2, 1),
            Figure(
                "crawler-nio-cpu/crawler-cpu",
                work[2] / work[1],
                limit: 1,
                against: Dictionary(uniqueKeysWithValues: zip(names.map { $0 + "-cpu-ms" }, work))
            ),
        ]
    }
}

/// The Python documentation of Debian (527 pages, 55 MB), served by nginx on loopback.
private struct CrawledSite {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private static let files = "/usr/share/doc/python3.11/html"

    private let nginx: Nginx
    private let scratch: ScratchDirectory
    private let crawler: String
    private let environment: [String: String]

    init() throws {
        let all = ProcessInfo.processInfo.environment
        guard let crawler = all["CRAWLER"] else {
            throw Failure(description: "CRAWLER is not set: run `make bench ONLY=crawler/wget`, which builds it")
        }
        guard FileManager.default.fileExists(atPath: Self.files + "/index.html") else {
            throw Failure(description: "there is no site to crawl: apt-get install python3.11-doc")
        }
        self.crawler = crawler
        environment = all.filter { !$0.key.lowercased().hasSuffix("_proxy") }
        scratch = try ScratchDirectory()
        nginx = try Nginx(
            directives: "location / { include /etc/nginx/mime.types; root \(Self.files); }"
        )
    }

    func stop() { nginx.stop() }

    private var address: String { nginx.url("").absoluteString }

    /// Loads the site with wget.
    func mirror() throws -> SpawnedProcessOutcome {
        let folder = try emptyFolder("wget")
        let outcome = try SpawnedProcess.run(
            "/usr/bin/wget",
            ["--quiet", "--recursive", "--level=inf", "--page-requisites", "--no-host-directories", address],
            in: folder,
            environment: environment,
            limit: 600
        )
        // 8: the server answered some link with an error, as it does for the crawler.
        guard outcome.ending == .exited(0) || outcome.ending == .exited(8) else {
            throw Failure(description: "wget: \(outcome.ending) \(outcome.complaint)")
        }
        return outcome
    }

    /// Loads the site with the crawler, and checks that it has what wget has and loads offline.
    ///
    /// - Returns: The outcome of the crawl, without the checks.
    func crawl(isNIO: Bool) throws -> SpawnedProcessOutcome {
        let folder = try emptyFolder("crawl")
        let engine = isNIO ? "nio" : "foundation"
        let outcome = try runCrawler(["crawl", address, "--into", folder.path, "--quiet", "--engine", engine])
        let missing = try mirrored().subtracting(crawled(folder))
        guard missing.isEmpty else {
            throw Failure(description: "the crawler lacks \(missing.sorted().joined(separator: ", "))")
        }
        _ = try runCrawler(["offline", folder.path, "--quiet"])
        return outcome
    }

    private func runCrawler(_ arguments: [String]) throws -> SpawnedProcessOutcome {
        let outcome = try SpawnedProcess.run(crawler, arguments, environment: environment, limit: 600)
        guard outcome.ending == .exited(0) else {
            let output = String(decoding: outcome.output, as: UTF8.self)
            throw Failure(description: "crawler \(arguments[0]): \(outcome.ending) \(output) \(outcome.complaint)")
        }
        return outcome
    }

    private func emptyFolder(_ name: String) throws -> URL {
        let folder = scratch.url.appendingPathComponent(name)
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// The paths of the files that wget has.
    private func mirrored() throws -> Set<String> {
        let folder = scratch.url.appendingPathComponent("wget")
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return Set(
            paths.filter { path in
                var isFolder: ObjCBool = false
                let exists = FileManager.default.fileExists(
                    atPath: folder.appendingPathComponent(path).path,
                    isDirectory: &isFolder
                )
                return exists && !isFolder.boolValue
            }
        )
    }

    /// The paths of the files that the crawler has, named as wget names them.
    private func crawled(_ folder: URL) throws -> Set<String> {
        let outcome = try SpawnedProcess.run(
            "/usr/bin/sqlite3",
            [folder.appendingPathComponent("crawl.sqlite").path, "SELECT url FROM resource WHERE state = 1"]
        )
        let urls = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n")
        return Set(
            urls.filter { $0.hasPrefix(address) }.map { url in
                let path = String(url.dropFirst(address.count)).removingPercentEncoding ?? ""
                return path.isEmpty || path.hasSuffix("/") ? path + "index.html" : path
            }
        )
    }
}
