import Foundation
import FoundationNetworking
import Measuring

/// One process of the crowd: it keeps 64 async loads in flight until its time is up, and cancels one in four of them.
struct Member: Sendable {
    static let width = 64
    /// The number of seconds after which a load under way counts as stuck.
    private static let patience = 240.0

    private let session: URLSession
    private let origin: String
    private let seed: UInt64
    private let isWitness: Bool
    private let results = Results()

    init(_ stage: Stage, origin: String, seed: UInt64, isWitness: Bool) throws {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 15
        configuration.httpMaximumConnectionsPerHost = 32
        session = URLSession(configuration: try stage.session(origin: origin).configuration(configuration))
        self.origin = origin
        self.seed = seed
        self.isWitness = isWitness
    }

    /// - Returns: The exit code.
    func run(seconds: Double) async -> Int32 {
        watch()
        let end = ContinuousClock.now + .seconds(seconds)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<Self.width {
                group.addTask {
                    var random = SeededRandom(seed: seed &+ UInt64(worker))
                    while ContinuousClock.now < end, !results.isWrong { await load(using: &random) }
                }
            }
        }
        results.end()
        return results.isWrong ? 3 : 0
    }

    private func load(using random: inout SeededRandom) async {
        let kind = Kind.allCases.randomElement(using: &random) ?? .file
        let number =
            kind == .miss
            ? Int.random(in: 1_000..<1 << 40, using: &random) : Int.random(in: 0..<Kind.population, using: &random)
        guard let url = URL(string: kind.url(number, origin: origin)) else { return }
        let isCancelled = Int.random(in: 0..<4, using: &random) == 0
        let order = results.begin(url)
        let task = Task { try await session.data(from: url) }
        if isCancelled {
            let microseconds = Int.random(in: 0..<3_000, using: &random)
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) { task.cancel() }
        }
        let result = await task.result
        results.end(order, Verdict(result, kind, number, isCancelled: isCancelled), url)
    }

    private func watch() {
        Thread.detachNewThread {
            while !results.hasEnded {
                Thread.sleep(forTimeInterval: 1)
                if isWitness { say("witness \(ProcessMemory.residentMiB) \(ProcessMemory.openDescriptors)") }
                guard let stuck = results.oldest(openFor: Self.patience) else { continue }
                say("wrong stuck for \(Int(Self.patience)) s: \(stuck)")
                exit(4)
            }
        }
    }
}
