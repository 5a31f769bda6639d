#if Gateway
/// The files of the inspector's page, which are part of the program.
enum InspectorFiles {
    private static let files: [String: (type: String, bytes: [UInt8])] = [
        "index.html": ("text/html; charset=utf-8", PackageResources.index_html),
        "inspector.css": ("text/css; charset=utf-8", PackageResources.inspector_css),
        "inspector.js": (script, PackageResources.inspector_js),
        "elements.js": (script, PackageResources.elements_js),
        "loads.js": (script, PackageResources.loads_js),
        "rules.js": (script, PackageResources.rules_js),
        "cache.js": (script, PackageResources.cache_js),
        "packs.js": (script, PackageResources.packs_js),
        "cookies.js": (script, PackageResources.cookies_js),
        "events.js": (script, PackageResources.events_js),
    ]
    private static let script = "text/javascript; charset=utf-8"

    static func contains(_ name: String) -> Bool { files[name] != nil }

    static func response(_ name: String) -> InspectorResponse? {
        files[name].map { InspectorResponse(type: $0.type, $0.bytes) }
    }
}
#endif
