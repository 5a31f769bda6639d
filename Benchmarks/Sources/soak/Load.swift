import Foundation
import Measuring

/// One load of the mix, with the body that it must have.
struct Load: Sendable {
    enum Kind: String, CaseIterable, Sendable { case file, archive, miss, forward }

    /// The number of files, and of archived responses, that are loaded again and again.
    static let population = 1_000

    let kind: Kind
    let number: Int
    /// The microseconds after which the load is cancelled, or nil when it is not cancelled.
    let cancelAfter: Int?

    /// Makes the next load: of a hundred loads, 40 are file hits, 30 archive hits, 15 misses that store and 15
    /// forwards.
    ///
    /// One of sixteen is cancelled, at any moment from before its start to after its end.
    ///
    /// With `kinds`, only these kinds are loaded, each equally often, to find out what one kind costs in memory.
    init(order: Int, kinds: [Kind] = [], using random: inout SeededRandom) {
        let share = Int.random(in: 0..<100, using: &random)
        kind =
            if !kinds.isEmpty { kinds[share % kinds.count] } else {
                switch share {
                case ..<40: .file
                case ..<70: .archive
                case ..<85: .miss
                default: .forward
                }
            }
        number = kind == .miss ? Self.population + order : Int.random(in: 0..<Self.population, using: &random)
        let isCancelled = Int.random(in: 0..<16, using: &random) == 0
        // The value is squared to favour early moments, so that short loads are also cancelled at every stage.
        let moment = Double.random(in: 0..<1, using: &random)
        cancelAfter = isCancelled ? Int(moment * moment * 3_000) : nil
    }

    /// The address, below the base of the files or of the origin.
    func url(files: String, origin: String) -> URL {
        let text =
            switch kind {
            case .file: "\(files)/\(number).bin"
            case .archive, .miss: "\(origin)/archive/\(number)"
            case .forward: "\(origin)/forward/\(number)"
            }
        return URL(string: text) ?? URL(fileURLWithPath: text)
    }
}
