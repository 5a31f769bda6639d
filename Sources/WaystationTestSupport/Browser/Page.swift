public import Foundation
import Synchronization

/// A page in a ``Browser``; it keeps the browser running.
public final class Page: Sendable {
    /// How long a page may take until a condition holds, in milliseconds: long enough for a machine that is busy.
    static let patience = 600_000

    private let browser: Browser
    private let session: String
    private let errors = Mutex<[String]>([])

    init(_ session: String, in browser: Browser) async throws {
        self.browser = browser
        self.session = session
        browser.connection.listen(to: session) { [weak self] event, parameters in
            guard let error = Self.error(event, parameters) else { return }
            self?.errors.withLock { $0.append(error) }
        }
        for domain in ["Page", "Runtime", "Log", "Inspector"] { try await send("\(domain).enable") }
        try await send("Page.setLifecycleEventsEnabled", ["enabled": true])
    }

    /// Sends a command of the protocol to the page.
    ///
    /// - Parameters:
    ///   - method: The command, such as `Page.reload`.
    ///   - parameters: Its parameters.
    /// - Returns: The result.
    /// - Throws: ``BrowserFailure`` with the browser's message if it refuses the command, or if it ends.
    @discardableResult
    public func send(_ method: String, _ parameters: JSONValue = [:]) async throws -> JSONValue {
        try await browser.connection.send(method, parameters, to: session)
    }

    /// Shows a URL, and returns when the document and its resources are loaded.
    ///
    /// - Throws: ``BrowserFailure`` if the browser cannot load the URL. An HTTP status such as 404 is not a failure.
    public func open(_ url: URL) async throws {
        let reply = try await send("Page.navigate", ["url": .string(url.absoluteString)])
        if let error = reply["errorText"].string {
            throw BrowserFailure("the browser cannot open \(url.absoluteString): \(error)")
        }
        // A navigation within the document has no loader.
        guard let loader = reply["loaderId"].string else { return }
        try await browser.connection.load(loader, of: session)
    }

    /// Runs a script in the page.
    ///
    /// - Parameter script: The script, which may use `await` at its top level.
    /// - Returns: The value of its last expression; that of a promise is awaited.
    /// - Throws: ``BrowserFailure`` if the script throws.
    @discardableResult
    public func evaluate(_ script: String) async throws -> JSONValue {
        let reply = try await send(
            "Runtime.evaluate",
            ["expression": .string(script), "awaitPromise": true, "userGesture": true, "replMode": true]
        )
        let result = try Self.result(of: reply)
        guard let object = result["objectId"].string else { return result["value"] }
        // In this mode, which allows `await`, the browser neither awaits a promise that is the result nor copies it.
        let value = try await call("function() { return this }", on: object)
        try? await release(object)
        return value
    }

    /// Waits until a condition holds, also across navigations.
    ///
    /// The page itself looks at the condition again and again.
    ///
    /// - Parameter condition: An expression. It does not hold as long as it throws.
    /// - Throws: ``BrowserFailure`` with the text of the page if the condition does not hold within two minutes.
    public func waitUntil(_ condition: String) async throws {
        let value = try await find(
            "async () => (\(condition)) ? { found: true } : null",
            orFail: "the page did not come to this condition: \(condition)"
        )
        // The page keeps the object for this call alone.
        try? await release(value)
    }

    /// Waits until a function of the page returns something else than null, and returns a reference to it.
    func find(_ function: String, orFail failure: String) async throws -> String {
        let script = """
            (async () => {
                const find = \(function), start = performance.now();
                let problem = "";
                while (performance.now() - start < \(Self.patience)) {
                    try { const found = await find(); if (found) return found; problem = "" }
                    catch (error) { problem = ` (${error})` }
                    await new Promise(go => setTimeout(go, 20));
                }
                return problem + "; its text: " + document.body?.innerText.slice(0, 1000);
            })()
            """
        while true {
            do {
                let reply = try await send(
                    "Runtime.evaluate",
                    ["expression": .string(script), "awaitPromise": true, "userGesture": true]
                )
                let result = try Self.result(of: reply)
                if let object = result["objectId"].string { return object }
                throw BrowserFailure(failure + (result["value"].string ?? ""))
            } catch let error as BrowserFailure where error.isNavigation {
                // The next document is asked instead.
            }
        }
    }

    /// Calls a function of the page with an object of it as `this`.
    func call(_ function: String, on object: String) async throws -> JSONValue {
        let reply = try await send(
            "Runtime.callFunctionOn",
            [
                "objectId": .string(object), "functionDeclaration": .string(function), "awaitPromise": true,
                "returnByValue": true, "userGesture": true,
            ]
        )
        return try Self.result(of: reply)["value"]
    }

    func release(_ object: String) async throws {
        try await send("Runtime.releaseObject", ["objectId": .string(object)])
    }

    private static func result(of reply: JSONValue) throws -> JSONValue {
        let problem = reply["exceptionDetails"]
        guard problem != .null else { return reply["result"] }
        let text = problem["exception"]["description"].string ?? problem["text"].string ?? "unknown"
        throw BrowserFailure("a script in the page failed: \(text)")
    }

    // MARK: - Errors

    /// The errors that the page reported so far: exceptions that no script caught, `console.error`, failed loads,
    /// violations of its policy.
    public var consoleErrors: [String] { errors.withLock { $0 } }

    private static func error(_ event: String, _ parameters: JSONValue) -> String? {
        switch event {
        case "Runtime.exceptionThrown":
            let details = parameters["exceptionDetails"]
            return details["exception"]["description"].string ?? details["text"].string
        case "Runtime.consoleAPICalled" where parameters["type"] == "error":
            return parameters["args"].elements.map { $0["value"].string ?? $0["description"].string ?? "" }
                .joined(separator: " ")
        case "Log.entryAdded" where parameters["entry"]["level"] == "error":
            let entry = parameters["entry"]
            return (entry["text"].string ?? "") + (entry["url"].string.map { " (\($0))" } ?? "")
        default: return nil
        }
    }
}

extension BrowserFailure {
    /// Whether a script ended because its document was replaced.
    fileprivate var isNavigation: Bool {
        ["context was destroyed", "Cannot find context", "navigated or closed", "Promise was collected"]
            .contains { description.contains($0) }
    }
}

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

/// The colours that a user prefers.
public enum ColorScheme: String, CaseIterable, Sendable {
    /// Dark text on a light ground.
    case light
    /// Light text on a dark ground.
    case dark
}

extension Page {
    /// Gives the page a size, in CSS pixels.
    public func resize(_ width: Int, _ height: Int) async throws {
        try await send(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": 1,
                "mobile": false,
            ]
        )
    }

    /// Sets the colours that the user prefers.
    public func colorScheme(_ scheme: ColorScheme) async throws {
        try await send(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": .string(scheme.rawValue)]]]
        )
    }

    /// Draws what the page shows.
    ///
    /// - Returns: A PNG.
    public func screenshot() async throws -> Data {
        let reply = try await send("Page.captureScreenshot", ["format": "png"])
        guard let image = reply["data"].string.flatMap({ Data(base64Encoded: $0) }) else {
            throw BrowserFailure("the browser made no screenshot")
        }
        return image
    }
}

extension Page {
    /// Checks what the page shows now against rules of accessibility.
    ///
    /// - No control is outside of the window at its left or right, and the document does not scroll sideways.
    /// - Each text that is shown has a contrast of at least 4.5 to its ground (WCAG 2.2, 1.4.3).
    /// - Each control has an accessible name (4.1.2).
    ///
    /// - Returns: A sentence for each fault.
    /// - Throws: ``BrowserFailure`` when the browser has ended.
    public func audit() async throws -> [String] {
        let faults = try await evaluate(Self.script).elements.compactMap(\.string)
        let unnamed = try await accessibilityTree().filter { node in
            node.isFocusable && node.name.isEmpty && !["RootWebArea", "generic"].contains(node.role)
        }
        return faults + unnamed.map { "a control with the role \($0.role) has no accessible name" }
    }

    private static let script = #"""
        (() => {
            const faults = [], label = one => one.outerHTML.slice(0, 120);
            const isShown = one => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
            if (document.documentElement.scrollWidth > innerWidth)
                faults.push(`the document is ${document.documentElement.scrollWidth} px wide in a window of ${innerWidth} px`);
            for (const one of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")) {
                if (!isShown(one)) continue;
                const box = one.getBoundingClientRect();
                if (box.left < 0 || box.right > innerWidth + 0.5)
                    faults.push(`${label(one)} reaches from ${box.left} to ${box.right} px in a window of ${innerWidth} px`);
                if (box.width === 0 || box.height === 0) faults.push(`${label(one)} has no size`);
                if (one.scrollWidth > one.clientWidth + 1 && one.matches("a, button"))
                    faults.push(`the text of ${label(one)} is cut off`);
            }
            const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            const colour = text => {
                context.clearRect(0, 0, 1, 1);
                context.fillStyle = text;
                context.fillRect(0, 0, 1, 1);
                const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
                return { r, g, b, a: a / 255 };
            };
            const over = (top, ground) => ({
                r: top.r * top.a + ground.r * (1 - top.a), g: top.g * top.a + ground.g * (1 - top.a),
                b: top.b * top.a + ground.b * (1 - top.a), a: 1,
            });
            const part = value => value <= 10.31475 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
            const luminance = c => 0.2126 * part(c.r) + 0.7152 * part(c.g) + 0.0722 * part(c.b);
            const groundOf = one => {
                const layers = [];
                for (let at = one; at; at = at.parentElement) {
                    const layer = colour(getComputedStyle(at).backgroundColor);
                    if (layer.a > 0) layers.push(layer);
                    if (layer.a === 1) break;
                }
                return layers.reduceRight((ground, layer) => over(layer, ground), colour("Canvas"));
            };
            const check = (one, text) => {
                const ground = groundOf(one), ink = over(colour(getComputedStyle(one).color), ground);
                const [high, low] = [luminance(ink), luminance(ground)].sort((a, b) => b - a);
                const contrast = (high + 0.05) / (low + 0.05);
                if (contrast < 4.5) faults.push(`“${text.slice(0, 40)}” has a contrast of ${contrast.toFixed(2)}`);
            };
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const text = walker.currentNode.data.trim(), one = walker.currentNode.parentElement;
                if (text && isShown(one) && !one.closest("script, style, option")) check(one, text);
            }
            for (const one of document.querySelectorAll("input, select, textarea"))
                if (isShown(one)) check(one, one.value || one.id);
            return faults;
        })()
        """#
}

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
