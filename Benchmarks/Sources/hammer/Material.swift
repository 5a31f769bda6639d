import Foundation
import HTTPTypes
import Measuring
import WaystationStorage

/// The responses to store.
///
/// A response follows from its URL and from a version in its fields, so that any process can check the responses of
/// every other.
enum Material {
    static let urls = 96
    static let partitions = ["", "anna", "bert"]

    /// The size is so small that eviction goes on all the time.
    static let limits = StoreLimits(maximumSize: .mebibytes(3), maximumEntrySize: .mebibytes(1), maximumVariants: 4)

    static let version = field("x-version")
    static let freshened = field("x-freshened")

    static func key(_ number: Int, _ partition: String) -> RequestKey {
        RequestKey(method: "GET", url: "https://host\(number % 4).example/items/\(number)", partition: partition)
    }

    /// Every third URL shares its bodies with the others of its kind: there are 4 such bodies, all in files.
    static func body(_ number: Int, version: Int) -> Data {
        if number.isMultiple(of: 3) {
            let shared = version % 4
            return Pattern.body(-1 - shared, count: 70_000 + shared * 45_000)
        }
        let seed = number &* 1_000_003 &+ version
        return Pattern.body(seed, count: sizes[seed % sizes.count])
    }

    private static let sizes = [0, 300, 4_000, 16_384, 65_536, 65_537, 150_000]

    static func vary(_ variant: Int) -> VaryKey {
        variant == 0 ? .none : VaryKey([.init(name: .acceptLanguage, value: "l\(variant)")])
    }

    private static func field(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is written down here") }
        return name
    }
}
