/// A path that is compared and hashed as bytes.
///
/// `String` treats canonically equivalent forms as equal, so as a dictionary key it would let the NFD form of a name
/// find the file whose name is in NFC.
struct ExactPath: Sendable, Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ExactPath, right: ExactPath) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        let isHashed: Void? = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: .init($0)) }
        if isHashed == nil {
            Array(text.utf8).withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}
