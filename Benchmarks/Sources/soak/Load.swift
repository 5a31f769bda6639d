import Foundation
import Measuring

/// One load of the mix, with the body that it must bring.
struct Load: Sendable {
    enum Kind: String, CaseIterable, Sendable { case file, archive, miss, forward }

    /// How many files, and how many archived responses, are loaded over and over.
    static let population = 1_000

    let kind: Kind
    let number: Int
    /// Microseconds after which it is cancelled, or nil when it may come to its end.
    let cancelAfter: Int?

    /// The next load: of a hundred 40 are file hits, 30 archive hits, 15 misses that store and 15 forwards; one of
    /// sixteen is cancelled, at any moment from before its start to after its end.
    ///
    /// With `kinds`, only these are loaded, alike often: what one kind costs in memory is so found out.
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
        // Squared, so that early moments are as likely as late ones are for loads of any length.
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
