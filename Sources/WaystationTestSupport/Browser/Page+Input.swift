import Foundation

extension Page {
    /// Clicks an element with the mouse, as soon as the page shows it.
    ///
    /// - Throws: ``BrowserFailure`` if the page does not show the element within two minutes, or if another one covers
    ///   it.
    public func click(_ element: PageElement) async throws {
        let object = try await find(element)
        let place = try await call(
            """
            function() {
                this.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
                const box = this.getBoundingClientRect();
                const x = box.x + box.width / 2, y = box.y + box.height / 2;
                const top = document.elementFromPoint(x, y);
                const isFree = top && (this.contains(top) || top.contains(this) || top.closest("label")?.control === this);
                return { x, y, cover: isFree ? null : top ? top.outerHTML.slice(0, 200) : "the edge of the page" };
            }
            """,
            on: object
        )
        try? await release(object)
        if let cover = place["cover"].string { throw BrowserFailure("\(element) is covered by \(cover)") }
        for (type, count) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 1)] {
            try await send(
                "Input.dispatchMouseEvent",
                [
                    "type": .string(type), "x": place["x"], "y": place["y"],
                    "button": count == 0 ? "none" : "left", "clickCount": .number(Double(count)),
                ]
            )
        }
    }

    /// Types a text into the element that has the focus.
    public func type(_ text: String) async throws { try await send("Input.insertText", ["text": .string(text)]) }

    /// Clicks an element, and types a text into it.
    public func type(_ text: String, into element: PageElement) async throws {
        try await click(element)
        try await type(text)
    }

    /// Presses a key and releases it.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - modifiers: The keys that are held meanwhile.
    /// - Throws: ``BrowserFailure`` when the browser has ended.
    public func press(_ key: Key, with modifiers: Key.Modifiers = []) async throws {
        var parameters: [String: JSONValue] = [
            "key": .string(key.name), "code": .string(key.code), "windowsVirtualKeyCode": .number(Double(key.number)),
            "modifiers": .number(Double(modifiers.rawValue)),
        ]
        parameters["type"] = "keyUp"
        let release = parameters
        parameters["type"] = key.text == nil ? "rawKeyDown" : "keyDown"
        if let text = key.text { parameters["text"] = .string(text) }
        try await send("Input.dispatchKeyEvent", .object(parameters))
        try await send("Input.dispatchKeyEvent", .object(release))
    }

    /// Waits until the page has an element, and returns a reference to it.
    private func find(_ element: PageElement) async throws -> String {
        switch element.way {
        case .selector(let selector):
            let text = String(decoding: try JSONEncoder().encode(selector), as: UTF8.self)
            return try await find(
                """
                () => [...document.querySelectorAll(\(text))]
                    .find(one => one.checkVisibility({ visibilityProperty: true }))
                """,
                orFail: "the page does not show \(element)"
            )
        case .name(let name, let role): return try await find(name, role: role, element)
        }
    }

    private func find(_ name: String, role: String?, _ element: PageElement) async throws -> String {
        let deadline = ContinuousClock.now + .milliseconds(Self.patience)
        while true {
            let nodes = try await accessibilityTree()
            let found = nodes.first { node in
                node.name == name && (role.map { $0 == node.role } ?? node.isFocusable) && node.element != nil
            }
            if let element = found?.element,
                // The element is gone already if the page has replaced it meanwhile.
                let reply = try? await send("DOM.resolveNode", ["backendNodeId": .number(Double(element))]),
                let object = reply["object"]["objectId"].string
            {
                return object
            }
            guard ContinuousClock.now < deadline else {
                let names = nodes.filter(\.isFocusable).map { "\($0.role) “\($0.name)”" }.joined(separator: ", ")
                throw BrowserFailure("the page does not show \(element); it has \(names)")
            }
            // The next change of the page, or the next document.
            _ = try? await evaluate(
                """
                new Promise(go => {
                    const observer = new MutationObserver(() => { observer.disconnect(); go(1) });
                    observer.observe(document, { subtree: true, childList: true, attributes: true });
                    setTimeout(() => { observer.disconnect(); go(0) }, 250);
                })
                """
            )
            try Task.checkCancellation()
        }
    }
}
