import WaystationFiles
import WaystationFoundation
import WaystationStorage

/// An answer that is available.
struct Answer: Sendable {
    enum Body: Sendable {
        case data(Data)
        case source(any BodySource)

        init(_ body: FileBody) {
            self =
                switch body {
                case .empty: .data(Data())
                case .data(let data): .data(data)
                case .slice(let slice): .source(slice)
                }
        }

        init(_ body: StoredBody) {
            self =
                switch body {
                case .data(let data): .data(data)
                case .file(let file): .source(file)
                }
        }

        var length: Int {
            switch self {
            case .data(let data): data.count
            case .source(let source): source.length
            }
        }

        /// Reads the whole body, on the calling thread.
        func contents() throws -> Data {
            switch self {
            case .data(let data): data
            case .source(let source): try source.read(at: 0, count: source.length)
            }
        }
    }

    var response: HTTPURLResponse
    var body: Body
    var source: LoadEvent.Source
    /// Whether the answer was made here, because no source has one.
    var isMadeHere = false
    /// Whether the answer is that of a source of the app's own, which may answer otherwise the next time.
    var isForeign = false
    /// The fetch that renews the response after the answer was delivered (stale-while-revalidate).
    var renews: FetchPlan?
}

/// A body on disk that is read piece by piece.
protocol BodySource: Sendable {
    /// The length of the body in bytes.
    var length: Int { get }
    /// Reads exactly `count` bytes from `offset`; throws if the file has become shorter.
    func read(at offset: Int, count: Int) throws -> Data
}

extension FileSlice: BodySource {}
extension StoredBodyFile: BodySource {}
