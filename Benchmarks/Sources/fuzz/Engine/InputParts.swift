/// Cuts an input into reads: a byte gives the length of the next read, and the bytes follow; 0 stands for all the rest.
struct InputParts: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() -> [UInt8]? {
        guard let length = rest.popFirst(), !rest.isEmpty else { return nil }
        let part = length == 0 ? rest : rest.prefix(Int(length))
        rest = rest.dropFirst(part.count)
        return Array(part)
    }

    /// The bytes as one read, or as reads of a length.
    static func input(_ bytes: [UInt8], by length: UInt8 = 0) -> [UInt8] {
        guard length > 0 else { return [0] + bytes }
        var input: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            input += [length] + rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
        }
        return input
    }
}
