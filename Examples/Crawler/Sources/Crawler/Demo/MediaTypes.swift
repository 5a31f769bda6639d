/// Media types by file extension, for the demo's server.
enum MediaTypes {
    static func type(forExtension name: String) -> String {
        byExtension[name.lowercased()] ?? "application/octet-stream"
    }

    private static let byExtension = [
        // No charset: pages declare their own, and old pages declare another one than UTF-8.
        "html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml",
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8", "json": "application/json", "webmanifest": "application/manifest+json",
        "txt": "text/plain; charset=utf-8", "vtt": "text/vtt; charset=utf-8", "csv": "text/csv; charset=utf-8",
        "xml": "application/xml", "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
        "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "ico": "image/vnd.microsoft.icon",
        "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf", "mp4": "video/mp4",
        "webm": "video/webm", "mp3": "audio/mpeg", "ogg": "audio/ogg", "wav": "audio/wav", "pdf": "application/pdf",
        "wasm": "application/wasm", "zip": "application/zip", "gz": "application/gzip",
    ]
}
