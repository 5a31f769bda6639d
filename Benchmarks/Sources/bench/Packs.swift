import Foundation
import FoundationNetworking
import Measuring
import Waystation
import WaystationPacks

extension Benchmark {
    /// Packs: unpacking, patching, installing, look-up and serving.
    static let packs: [Benchmark] = [
        Benchmark("pack-hit/floor") {
            let scratch = try ScratchDirectory()
            let packs = try InterceptedSession.packs(try await .ofOneFile(in: scratch))
            let session = URLSession(configuration: packs.configuration())
            let loads = Loads(session, [url("http://packs.test/body.txt")], count: 3_000)
            return try await Loads.ratio(
                "pack-hit/floor",
                limit: 1.15,
                judged: .crowd,
                of: ("pack-hit", loads),
                to: floor
            )
        },
        Benchmark("pack-lookup-20000/pack-lookup-20") {
            let few = try await lookUps(files: 20)
            let many = try await lookUps(files: 20_000)
            let costs = try await interleaved(rounds: 15, [few, many])
            return [
                Figure(
                    "pack-lookup-20000/pack-lookup-20",
                    costs[1] / costs[0],
                    limit: 1.5,
                    against: ["pack-lookup-20-ns": costs[0], "pack-lookup-20000-ns": costs[1]]
                )
            ]
        },
        Benchmark("unzip/bsdtar", "unzip-memory") {
            let scratch = try ScratchDirectory()
            let zip = scratch.url.appendingPathComponent("html.zip")
            let html = "/usr/share/doc/python3.11/html"
            try Tool.run(
                "/usr/bin/zip",
                ["-q", "-r", zip.path, "."],
                in: URL(fileURLWithPath: html).resolvingSymlinksInPath()
            )
            let ours = try await against(
                { try PackTool.start(["unzip", zip.path, $0.path]) },
                { try Tool.run("/usr/bin/bsdtar", ["-x", "-f", zip.path, "-C", $0.path], in: $0) }
            )
            return [
                Figure("unzip/bsdtar", ours.ratio, limit: 0.8, against: ours.named("unzip-ms", "bsdtar-ms")),
                Figure("unzip-memory", ours.memory, unit: "MiB", limit: 32),
            ]
        },
        Benchmark("zip-patch/bspatch", "zip-patch-memory/bspatch-memory") {
            let apps = try WebApp.packs(["jupyterlab-4.2.4", "jupyterlab-4.2.5"])
            let patch = apps.scratch.url.appendingPathComponent("zip.patch")
            try Tool.run("/usr/bin/bsdiff", [apps.zips[0].path, apps.zips[1].path, patch.path], in: apps.scratch.url)
            let ours = try await against(
                {
                    try PackTool.start(["patch", apps.zips[0].path, $0.appendingPathComponent("new").path, patch.path])
                },
                {
                    let arguments = [apps.zips[0].path, $0.appendingPathComponent("new").path, patch.path]
                    return try Tool.run("/usr/bin/bspatch", arguments, in: $0)
                }
            )
            return [
                Figure("zip-patch/bspatch", ours.ratio, limit: 1.1, against: ours.named("zip-patch-ms", "bspatch-ms")),
                Figure(
                    "zip-patch-memory/bspatch-memory",
                    ours.memory / max(ours.peerMemory, 1),
                    limit: 1,
                    against: ["zip-patch-MiB": ours.memory, "bspatch-MiB": ours.peerMemory]
                ),
            ]
        },
        Benchmark("content-patch/full-install", "content-patch-jupyterlab", "content-patch-streamlit") {
            let jupyterLab = try WebApp.packs(["jupyterlab-4.2.4", "jupyterlab-4.2.5"])
            let streamlit = try WebApp.packs(["streamlit-1.38.0", "streamlit-1.39.0"])
            let patch = try jupyterLab.contentPatch()
            let module = try WebApp.description("jupyterlab", "4.2.4").module
            func milliseconds(_ install: (PackLibrary) async throws -> Void) async throws -> Double {
                let scratch = try ScratchDirectory()
                let library = try PackLibrary(directory: scratch.url)
                try await library.install(zip: jupyterLab.zips[0])
                let clock = ContinuousClock()
                let start = clock.now
                try await install(library)
                return start.duration(to: clock.now) / .milliseconds(1)
            }
            let costs = try await interleaved(
                rounds: 7,
                [
                    { try await milliseconds { try await $0.install(zip: jupyterLab.zips[1]) } },
                    { try await milliseconds { try await $0.install(contentPatch: patch, for: module) } },
                ]
            )
            func size(_ patch: URL) throws -> Double { Double(try Data(contentsOf: patch).count) }
            return [
                Figure(
                    "content-patch/full-install",
                    costs[1] / costs[0],
                    limit: 0.5,
                    against: ["full-install-ms": costs[0], "content-patch-ms": costs[1]]
                ),
                Figure("content-patch-jupyterlab", try size(patch), unit: "bytes", limit: 20_000),
                Figure("content-patch-streamlit", try size(streamlit.contentPatch()), unit: "bytes", limit: 200_000),
            ]
        },
    ]

    /// Asks a library with `files` files for twenty of them, and for twenty that it does not have.
    private static func lookUps(files: Int) async throws -> @Sendable () -> Double {
        let scratch = try ScratchDirectory()
        let site = scratch.url.appendingPathComponent("site")
        for number in 0..<files {
            let file = site.appendingPathComponent("\(number % 100)/\(number).js")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("\(number)".utf8).write(to: file)
        }
        let library = try PackLibrary(directory: scratch.url.appendingPathComponent("packs"))
        try await library.install(folder: site, as: try WebApp.description("site", "1"))
        let stride = files / 20
        let urls = (0..<20).flatMap { number in
            [
                url("http://packs.test/\(number * stride % 100)/\(number * stride).js"),
                url("http://packs.test/\(number).css"),
            ]
        }
        return {
            let clock = ContinuousClock()
            var found = 0
            let rounds = 20_000
            let duration = clock.measure {
                for number in 0..<rounds where library.canServeOffline(urls[number % urls.count]) { found += 1 }
            }
            // Half of the URLs are in the library; with any other count the look-up is wrong.
            return found == rounds / 2 ? duration / .nanoseconds(1) / Double(rounds) : .nan
        }
    }

    /// Runs two jobs in turn, each with a new directory.
    private static func against(
        _ ours: @escaping @Sendable (URL) throws -> ToolCost,
        _ peer: @escaping @Sendable (URL) throws -> ToolCost
    ) async throws -> ToolComparison {
        let peaks = Peaks()
        let costs = try await interleaved(
            rounds: 9,
            [
                {
                    let target = try ScratchDirectory()
                    let cost = try ours(target.url)
                    peaks.ours = max(peaks.ours, cost.memory)
                    return cost.milliseconds
                },
                {
                    let target = try ScratchDirectory()
                    let cost = try peer(target.url)
                    peaks.peer = max(peaks.peer, cost.memory)
                    return cost.milliseconds
                },
            ]
        )
        return ToolComparison(ours: costs[0], peer: costs[1], memory: peaks.ours, peerMemory: peaks.peer)
    }
}

private final class Peaks {
    var ours = 0.0
    var peer = 0.0
}

/// The times of two programs, and their peak memory in MiB.
private struct ToolComparison {
    let ours: Double
    let peer: Double
    let memory: Double
    let peerMemory: Double

    var ratio: Double { ours / peer }

    func named(_ ours: String, _ peer: String) -> [String: Double] { [ours: self.ours, peer: self.peer] }
}
