import Foundation
import FoundationNetworking
import Measuring

/// The whole run: workers that load, and a watch over them.
struct Soak: Sendable {
    private static let width = 64
    /// The number of seconds without the end of a load that count as a hang.
    private static let patience = 60.0

    let total: Int
    let kinds: [Load.Kind]
    /// Whether Waystation is left out, to measure what Foundation does by itself.
    ///
    /// Then only forwards work, and nothing is cancelled: without Waystation, a cancel at the moment when its load ends
    /// crashes the process.
    let isPlain: Bool
    private let counters = Counters()

    init(total: Int, kinds: [Load.Kind] = [], isPlain: Bool = false) {
        self.total = total
        self.isPlain = isPlain
        self.kinds = kinds
    }

    /// - Returns: Whether everything went well.
    func run() async throws -> Bool {
        let scratch = try ScratchDirectory()
        let origin = try Origin()
        defer { origin.stop() }
        let files = scratch.url.appendingPathComponent("files")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        for number in 0..<Load.population {
            try Pattern.body(number).write(to: files.appendingPathComponent("\(number).bin"))
        }
        let interceptors = try ["a", "b"].map { name in
            isPlain
                ? .plain
                : try InterceptedSession.mixed(
                    files: (files, "http://files.test/"),
                    archive: (scratch.url.appendingPathComponent(name), "\(origin.base)/archive/**"),
                    network: "\(origin.base)/forward/**"
                )
        }
        let loaders = [
            Loader(interceptors[0].configuration(), usesDelegate: false),
            Loader(interceptors[0].configuration(), usesDelegate: true),
            Loader(interceptors[1].configuration(), usesDelegate: false),
        ]
        let leak = isPlain ? 0 : try FoundationLeak.measure()
        watch()
        let early = try await load(upTo: max(total / 5, 1), loaders, origin: origin.base)
        let forwardsBefore = counters.now.forwards
        let late = try await load(upTo: total, loaders, origin: origin.base)
        return report(early: early, late: late, leaked: leak * Double(counters.now.forwards - forwardsBefore))
    }

    /// Loads until `limit` loads have been started, prints the memory in between, and returns it at the end.
    private func load(upTo limit: Int, _ loaders: [Loader], origin: String) async throws -> Double {
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<Self.width {
                group.addTask { await work(upTo: limit, loaders[worker % loaders.count], origin: origin) }
            }
        }
        return ProcessMemory.residentMiB
    }

    private func work(upTo limit: Int, _ loader: Loader, origin: String) async {
        while let order = counters.start(of: limit) {
            var random = SeededRandom(seed: UInt64(order))
            let load = Load(order: order, kinds: kinds, using: &random)
            let url = load.url(files: "http://files.test", origin: origin)
            counters.open(order, "\(url)\(load.cancelAfter.map { " cancelled after \($0) µs" } ?? "")")
            let ending = await loader.load(url, cancelAfter: isPlain ? nil : load.cancelAfter)
            counters.end(order) { $0.count(ending, of: load, url) }
            if (order + 1).isMultiple(of: 50_000) {
                say("\(order + 1) loads, rss \(Int(ProcessMemory.residentMiB)) MiB")
            }
        }
    }

    /// Ends the process when no load ends any more.
    private func watch() {
        let total = total
        StallWatch.begin(
            patience: Self.patience,
            progress: { [counters] in
                let ended = counters.now.ended
                return ended < total ? ended : nil
            },
            stalled: {
                let now = counters.now
                say("no load ended for \(Self.patience) s\n\(now.dump)")
                say(line(now, hung: now.open.count, memory: (.nan, ProcessMemory.residentMiB)))
                exit(1)
            }
        )
    }

    private func report(early: Double, late: Double, leaked: Double) -> Bool {
        let now = counters.now
        let own = late - leaked
        let isFlat = own <= early * 1.1 + 8
        if now.wrong + now.failed > 0 { say(now.dump) }
        if leaked > 0 {
            say(String(format: "%.0f MiB of the growth are lost by plain URLSession for as many loads", leaked))
        }
        if !isFlat {
            say(String(format: "other growth from %.0f to %.0f MiB: more than 10 %% plus 8 MiB", early, own))
        }
        say(line(now, hung: now.started - now.ended, memory: (early, late)))
        return isFlat && now.wrong + now.failed == 0 && now.ended == total
    }

    private func line(_ state: Counters.State, hung: Int, memory: (early: Double, late: Double)) -> String {
        let sizes = String(format: "%.0f -> %.0f", memory.early, memory.late)
        return
            "soak: \(state.ended) loads, \(state.hits) hits, \(state.forwards) forwards, \(state.cancelled) cancelled, "
            + "\(state.wrong + state.failed) wrong, \(hung) hung, rss \(sizes) MiB"
    }
}

extension Counters.State {
    /// Judges how a load ended, and counts it.
    fileprivate mutating func count(_ ending: Ending, of load: Load, _ url: URL) {
        switch ending {
        case .failed(.cancelled, _) where load.cancelAfter != nil:
            cancelled += 1
        case .failed(_, let reason):
            failed += 1
            trouble("\(url) failed: \(reason)")
        case .body(let body, let response):
            let expected = Pattern.body(load.number)
            if response.statusCode != 200 || body != expected {
                wrong += 1
                trouble("\(url) gave \(response.statusCode) and \(body.count) bytes instead of \(expected.count)")
            }
            if InterceptedSession.isHit(response) { hits += 1 } else { forwards += 1 }
        }
    }
}
