public import Foundation

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
