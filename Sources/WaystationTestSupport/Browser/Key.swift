/// A key of the keyboard.
public struct Key: Sendable {
    /// Keys that are held while another one is pressed.
    public struct Modifiers: OptionSet, Sendable {
        /// The bits of the protocol.
        public let rawValue: Int

        /// Makes a set of the protocol's bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The Alt key.
        public static let alt = Modifiers(rawValue: 1)
        /// The Control key.
        public static let control = Modifiers(rawValue: 2)
        /// The Shift key.
        public static let shift = Modifiers(rawValue: 8)
    }

    let name: String
    let code: String
    /// The number of the key, which browsers use to find its effect.
    let number: Int
    var text: String?

    /// Moves the focus.
    public static let tab = Key(name: "Tab", code: "Tab", number: 9)
    /// Activates what has the focus.
    public static let enter = Key(name: "Enter", code: "Enter", number: 13, text: "\r")
    /// Closes what is open.
    public static let escape = Key(name: "Escape", code: "Escape", number: 27)
    /// The space bar.
    public static let space = Key(name: " ", code: "Space", number: 32, text: " ")
    /// Deletes the character before the cursor.
    public static let backspace = Key(name: "Backspace", code: "Backspace", number: 8)
    /// To the line's or list's end.
    public static let end = Key(name: "End", code: "End", number: 35)
    /// To the line's or list's beginning.
    public static let home = Key(name: "Home", code: "Home", number: 36)
    /// To the left.
    public static let left = Key(name: "ArrowLeft", code: "ArrowLeft", number: 37)
    /// Upwards.
    public static let up = Key(name: "ArrowUp", code: "ArrowUp", number: 38)
    /// To the right.
    public static let right = Key(name: "ArrowRight", code: "ArrowRight", number: 39)
    /// Downwards.
    public static let down = Key(name: "ArrowDown", code: "ArrowDown", number: 40)
}
