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
