import Foundation
import FoundationNetworking
import Measuring
import Waystation
import WaystationPacks
import WaystationTesting

/// A way to load in a session with Waystation.
enum Way: String, CaseIterable {
    /// No rule matches the load.
    case untouched
    /// A rule matches the load, and Foundation's own loader runs it.
    case network
    /// Every load is stored, and none is stored before.
    case miss
    case hit
    case file
    case pack
}

/// Makes 600 rounds of 16 loads, and cancels each load within two milliseconds unless it has already ended.
struct CancelledLoads {
    private static let rounds = 600
    private static let width = 16
    private static let body = Data(repeating: 0x61, count: 16 << 10)

    private let session: URLSession
    private let url: @Sendable (_ round: Int, _ number: Int) -> URL
    private let origin: ScriptedOrigin
    private let scratch: ScratchDirectory

    /// Makes the session, with the files, the origin or the pack that its loads need.
    init(_ way: Way) async throws {
        let scratch = try ScratchDirectory()
        let origin = try ScriptedOrigin(keepsRequests: false) { _ in .ok(Self.body) }
        (self.scratch, self.origin) = (scratch, origin)
        let site = scratch.url.appendingPathComponent("site")
        try FileManager.default.createDirectory(at: site, withIntermediateDirectories: true)
        try Self.body.write(to: site.appendingPathComponent("body.txt"))
        let offline = URL(string: "http://offline.test/body.txt") ?? site
        let base = offline.deletingLastPathComponent()
        let intercepted: InterceptedSession
        switch way {
        case .untouched: intercepted = try .untouched()
        case .network: intercepted = try .network()
        case .miss, .hit: intercepted = try .stored(in: scratch.url.appendingPathComponent("cache"))
        case .file: intercepted = try .files(in: site, at: base)
        case .pack:
            let library = try PackLibrary(directory: scratch.url.appendingPathComponent("packs"))
            guard let module = ModuleID("site"), let version = PackVersion("1") else { throw URLError(.unknown) }
            let description = PackDescription(module: module, version: version, baseURLs: [base.absoluteString])
            try await library.install(folder: site, as: description)
            intercepted = try .packs(library)
        }
        session = URLSession(configuration: intercepted.configuration())
        switch way {
        case .untouched, .network, .hit: url = { [origin] _, _ in origin.url("/body.txt") }
        case .miss: url = { [origin] round, number in origin.url("/\(round)/\(number)") }
        case .file, .pack: url = { _, _ in offline }
        }
        // For hits, this load stores the response.
        _ = try await session.data(from: url(-1, 0))
    }

    /// Loads and cancels.
    ///
    /// When a round does not end, the process reports it and exits, since none of its loads can end any more.
    func run() async throws -> Tally {
        var tally = Tally()
        let session = session
        let roundsEnded = StepCount()
        StallWatch.begin(patience: 60, progress: { roundsEnded.count }) {
            say("STUCK")
            exit(3)
        }
        for round in 0..<Self.rounds {
            let urls = (0..<Self.width).map { url(round, $0) }
            await withTaskGroup(of: Result<Data, any Error>.self) { group in
                for url in urls {
                    group.addTask {
                        let load = Task { try await session.data(from: url).0 }
                        let moment = DispatchTime.now() + .microseconds(.random(in: 0...2000))
                        DispatchQueue.global().asyncAfter(deadline: moment) { load.cancel() }
                        return await load.result
                    }
                }
                for await result in group { tally.add(result, expecting: Self.body) }
            }
            roundsEnded.add()
        }
        return tally
    }
}

extension Tally {
    fileprivate mutating func add(_ result: Result<Data, any Error>, expecting body: Data) {
        switch result {
        case .success(body): answered += 1
        case .failure(let error as URLError) where error.code == .cancelled: cancelled += 1
        case .success, .failure: failed += 1
        }
    }
}
