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
    init(order: Int, using random: inout SeededRandom) {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<40: kind = .file
        case ..<70: kind = .archive
        case ..<85: kind = .miss
        default: kind = .forward
        }
        number = kind == .miss ? Self.population + order : Int.random(in: 0..<Self.population, using: &random)
        let isCancelled = Int.random(in: 0..<16, using: &random) == 0
        cancelAfter = isCancelled ? Int.random(in: 0..<3_000, using: &random) : nil
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

    /// The body of a number: of any size from nothing to 32 KiB, and for one in a hundred a quarter of a MiB.
    static func body(_ number: Int) -> Data {
        Pattern.body(number, count: number % 100 == 99 ? 256 << 10 : (number &* 7_919) % (32 << 10))
    }
}
