public import WaystationFoundation

extension DirectClient {
    /// The body of a response, as a sequence of parts.
    ///
    /// Parts are delivered as they arrive; bytes that have arrived while the reader was busy are one part. A reader that is
    /// slower than the network slows it down: some hundred KiB wait in memory, the rest waits on the server. One task may
    /// read the body, and once. Dropping it before its end stops the load.
    ///
    /// Reading throws the error with which the load ends: a body that is shorter than its server has said is an error, never
    /// a normal end. If the reading task is cancelled, the load is, too, and reading throws `URLError.cancelled`.
    public struct Body: AsyncSequence, Sendable {
        /// Stops the load when its body is dropped.
        final class Reader: Sendable {
            let load: DirectLoad

            init(_ load: DirectLoad) { self.load = load }

            deinit { load.cancel() }
        }

        fileprivate enum Form: Sendable {
            case data(Data)
            case load(Reader)
        }

        private let form: Form

        init(data: Data) { form = .data(data) }

        init(_ reader: Reader) { form = .load(reader) }

        /// Takes the parts.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var form: Form

            /// The next part, which is not empty; nil after the last one.
            ///
            /// - Throws: `URLError`.
            public mutating func next() async throws -> Data? { try await next(isolation: nil) }

            /// The next part, which is not empty; nil after the last one.
            ///
            /// - Parameter actor: The actor of the caller, on which parts that have arrived are taken.
            /// - Returns: The part.
            /// - Throws: `URLError`.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Data? {
                switch form {
                case .data(let data):
                    form = .data(Data())
                    return data.isEmpty ? nil : data
                case .load(let reader): return try await reader.load.next()
                }
            }
        }

        /// Begins to read.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(form: form) }

        /// The lines of the body, such as those of an event stream; see ``Lines``.
        public var lines: Lines { Lines(body: self) }

        /// Reads the whole body.
        ///
        /// - Parameter limit: The largest number of bytes; 256 MiB by default.
        /// - Returns: The bytes.
        /// - Throws: `URLError`; `dataLengthExceedsMaximum` if the body has more bytes.
        public nonisolated(nonsending) func data(upTo limit: ByteCount = .mebibytes(256)) async throws -> Data {
            var all = Data()
            for try await part in self {
                guard part.count <= limit.bytes - all.count else {
                    let message = "the body has more than the \(limit.bytes) bytes that are read at most"
                    throw URLError(.dataLengthExceedsMaximum, failing: nil, message)
                }
                if all.isEmpty { all = part } else { all.append(part) }
            }
            return all
        }
    }

    /// The lines of a body, without their ends: LF, CR LF or CR, as in an event stream (WHATWG HTML §9.2.5).
    ///
    /// A line is delivered as soon as its end has arrived; empty lines are delivered, too, and so is the rest behind the last
    /// end unless it is empty. Bytes that are not UTF-8 are replaced by U+FFFD; a byte order mark at the beginning is left
    /// out. A line of more than 1 MiB is an error, `URLError.dataLengthExceedsMaximum`.
    public struct Lines: AsyncSequence, Sendable {
        private static let limit = 1 << 20

        fileprivate let body: Body

        /// Takes the lines.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var parts: Body.AsyncIterator
            fileprivate var splitter = LineSplitter()

            /// The next line; nil after the last one.
            ///
            /// - Throws: `URLError`.
            public mutating func next() async throws -> String? { try await next(isolation: nil) }

            /// The next line; nil after the last one.
            ///
            /// - Parameter actor: The actor of the caller, on which lines that have arrived are taken.
            /// - Returns: The line.
            /// - Throws: `URLError`.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> String? {
                while true {
                    let line = splitter.next()
                    guard line?.utf8.count ?? splitter.waitingBytes <= Lines.limit else {
                        let message = "a line of the body has more than \(Lines.limit) bytes"
                        throw URLError(.dataLengthExceedsMaximum, failing: nil, message)
                    }
                    if let line { return line }
                    guard let part = try await parts.next(isolation: actor) else { return splitter.rest() }
                    splitter.append(part)
                }
            }
        }

        /// Begins to read.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: body.makeAsyncIterator()) }
    }
}

/// Splits bytes into lines: a state machine without side effects.
struct LineSplitter: Sendable {
    private var bytes: [UInt8] = []
    /// The index of the first byte of the next line.
    private var start = 0
    /// The index up to which there is no end of a line.
    private var searched = 0
    /// Whether the last line has ended with a CR, so that an LF that follows belongs to it.
    private var endedWithReturn = false
    private var isBeginning = true

    private static let newLine = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// The number of bytes of the line that has not ended.
    var waitingBytes: Int { bytes.count - start }

    mutating func append(_ part: Data) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: part)
    }

    /// The next line; nil if its end has not arrived.
    mutating func next() -> String? {
        if endedWithReturn, start < bytes.count {
            endedWithReturn = false
            if bytes[start] == Self.newLine { start += 1 }
            searched = Swift.max(searched, start)
        }
        let end = bytes[searched...].firstIndex { $0 == Self.newLine || $0 == Self.carriageReturn }
        guard let end else {
            searched = bytes.count
            return nil
        }
        endedWithReturn = bytes[end] == Self.carriageReturn
        defer { (start, searched) = (end + 1, end + 1) }
        return text(start..<end)
    }

    /// The last line, if the body ended before its end arrived; nil if the body ended with the end of a line.
    mutating func rest() -> String? {
        guard start < bytes.count else { return nil }
        defer { (start, searched) = (bytes.count, bytes.count) }
        return text(start..<bytes.count)
    }

    private mutating func text(_ range: Range<Int>) -> String {
        var line = bytes[range]
        if isBeginning, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        isBeginning = false
        return String(decoding: line, as: UTF8.self)
    }
}
