/// A part of a page as assistive technology presents it to users.
public struct AccessibleNode: Sendable, Hashable {
    /// The role, such as `button`, `link` or `heading`.
    public let role: String
    /// The accessible name; empty if it has none.
    public let name: String
    /// Whether the keyboard can reach it.
    public let isFocusable: Bool
    /// The browser's number of the element.
    let element: Int?
}

extension Page {
    /// The parts of the page that assistive technology presents, in the order of the document.
    public func accessibilityTree() async throws -> [AccessibleNode] {
        let nodes = try await send("Accessibility.getFullAXTree")["nodes"].elements
        return nodes.filter { $0["ignored"] != true }.map { node in
            let properties = node["properties"].elements
            return AccessibleNode(
                role: node["role"]["value"].string ?? "",
                name: node["name"]["value"].string ?? "",
                isFocusable: properties.contains { $0["name"] == "focusable" && $0["value"]["value"] == true },
                element: node["backendDOMNodeId"].number.map { Int($0) }
            )
        }
    }
}
