/// A description by which an element of a page is found.
///
/// A string literal is a CSS selector.
public struct PageElement: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    enum Way: Sendable {
        case selector(String)
        case name(String, role: String?)
    }

    let way: Way

    /// The first visible element that matches a CSS selector.
    public static func selector(_ selector: String) -> PageElement { PageElement(way: .selector(selector)) }

    /// The first element with a name, as assistive technology reads it to users.
    ///
    /// - Parameters:
    ///   - name: The whole accessible name.
    ///   - role: The role, such as `button`; nil for any role that users can act on.
    /// - Returns: The element.
    public static func named(_ name: String, role: String? = nil) -> PageElement {
        PageElement(way: .name(name, role: role))
    }

    init(way: Way) { self.way = way }

    /// Makes an element of a CSS selector.
    public init(stringLiteral selector: String) { way = .selector(selector) }

    /// The element in words.
    public var description: String {
        switch way {
        case .selector(let selector): "an element for the selector \(selector)"
        case .name(let name, let role): "\(role ?? "a control") with the name “\(name)”"
        }
    }
}
