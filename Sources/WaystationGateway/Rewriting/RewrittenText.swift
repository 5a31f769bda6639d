#if Gateway
/// The bytes that are passed on of those that were scanned: the same ones, but for the edits.
struct RewrittenText {
    private(set) var bytes: [UInt8] = []
    /// The number of scanned bytes that were passed on or replaced.
    private var passed = 0

    /// Replaces the bytes of one edit; call it with the edits in the order of their places in the text.
    mutating func apply(_ edit: Links.Edit, to text: UnsafeBufferPointer<UInt8>) {
        guard edit.range.lowerBound >= passed else { return }
        pass(to: edit.range.lowerBound, of: text)
        bytes += edit.text
        passed = edit.range.upperBound
    }

    /// Passes on the bytes before a place.
    mutating func pass(to place: Int, of text: UnsafeBufferPointer<UInt8>) {
        guard place > passed else { return }
        bytes += text[passed..<place]
        passed = place
    }
}
#endif
