/// The extra fields of a header (APPNOTE 4.5): each has an identifier, a length, and that many bytes.
struct ExtraFields {
    enum Identifier: UInt16 {
        case zip64 = 0x0001
        case pkwareUnix = 0x000D
        case strongEncryption = 0x0017
        case infoZipUnix = 0x756E
        case unicodePath = 0x7075
        case aes = 0x9901
    }

    private var fields: [Identifier: ArraySlice<UInt8>] = [:]

    /// Reads the fields that this module uses.
    ///
    /// - Throws: ``ZipError`` when the lengths do not add up, or a field occurs twice.
    init(_ bytes: ArraySlice<UInt8>, entry: String) throws(ZipError) {
        func damaged(_ problem: String) -> ZipError {
            ZipError(.damagedExtraField, entry: entry, "\(problem); fetch or create the archive again")
        }
        var rest = bytes
        while rest.count >= 4 {
            let length = Int(rest.field(2, as: UInt16.self))
            guard rest.count - 4 >= length else { throw damaged("has an extra field that runs past its header") }
            if let identifier = Identifier(rawValue: rest.field(0, as: UInt16.self)) {
                let content = rest.dropFirst(4).prefix(length)
                guard fields.updateValue(content, forKey: identifier) == nil else {
                    throw damaged("has an extra field twice")
                }
            }
            rest = rest.dropFirst(4 + length)
        }
        // Tools that align data pad with up to three zeros, which are too few for a field.
        guard rest.allSatisfy({ $0 == 0 }) else { throw damaged("has bytes after its extra fields") }
    }

    subscript(identifier: Identifier) -> ArraySlice<UInt8>? { fields[identifier] }
}
