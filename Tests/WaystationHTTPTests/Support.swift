import Foundation

/// The moment from which tests count.
let epoch = Date(timeIntervalSince1970: 1_700_000_000)

func url(_ text: String) -> URL {
    URL(string: text) ?? URL(filePath: "/no-url")
}
