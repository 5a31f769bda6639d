import WaystationFoundation
import WaystationHTTP
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

extension Answer.Body {
    /// The bytes of the whole body that a selection answers with.
    func part(_ content: StoredSelection.Content) -> Answer.Body {
        switch (content, self) {
        case (.none, _): .data(Data())
        case (.whole, _): self
        // A copy, whose indices begin at 0 as those of a body from the network do.
        case (.bytes(let range), .data(let data)): .data(Data(data.dropFirst(range.lowerBound).prefix(range.count)))
        case (.bytes(let range), .source(let source)): .source(BodyPart(of: source, range))
        }
    }
}

/// A part of the bytes of a body.
private struct BodyPart: BodySource {
    let whole: any BodySource
    let range: Range<Int>

    init(of whole: any BodySource, _ range: Range<Int>) {
        self.whole = whole
        self.range = range
    }

    var length: Int { range.count }

    func read(at offset: Int, count: Int) throws -> Data { try whole.read(at: range.lowerBound + offset, count: count) }
}
