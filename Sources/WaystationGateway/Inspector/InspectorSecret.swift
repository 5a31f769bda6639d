#if Gateway
import WaystationFileSystem

/// The secret of one run, without which the inspector answers nothing.
struct InspectorSecret: Sendable {
    /// 256 random bits as hexadecimal digits.
    let text: String

    /// Makes a new secret.
    init() { text = RandomName.make() + RandomName.make() }

    /// Compares a text with the secret.
    ///
    /// The time that the comparison takes does not depend on the number of bytes that agree.
    func equals(_ other: some StringProtocol) -> Bool {
        let (own, given) = (Array(text.utf8), Array(other.utf8))
        guard own.count == given.count else { return false }
        return zip(own, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
#endif
