import Testing

@testable import WaystationPacks

@Suite("The roots of a zip by a whitelist")
struct PackRootsTests {
    private static let site = ["index.html", "js/a.js"]

    @Test(
        "are the URLs at which the whitelist covers the most files, nearest to the host",
        arguments: [
            (site, ["https://a.example/app/"], ["https://a.example/app/"]),
            (site, ["https://a.example/**"], ["https://a.example/"]),
            (site, ["https://a.example/app/", "https://a.example/app/js/"], ["https://a.example/app/"]),
            (
                site, ["https://a.example/app/", "https://b.example:8443/"],
                ["https://a.example/app/", "https://b.example:8443/"]
            ),
            (site, ["https://a.example/app/js/*.js"], ["https://a.example/app/"]),
            (site, ["https://a.example/app/js/a.js?v=1"], []),
            (["app/index.html", "app/a.js"], ["https://a.example/app/"], ["https://a.example/"]),
            (["a b/ü.js"], ["https://a.example/x/a%20b/%C3%BC.js"], ["https://a.example/x/"]),
            (site, ["https://a.example/other.js", "https://*.example/app/", "no URL", "", "/app/"], []),
            (site, [], []), ([], ["https://a.example/app/"], []),
        ] as [([String], [String], [String])]
    )
    func roots(paths: [String], whitelist: [String], expected: [String]) {
        #expect(PackRoots.of(paths, in: whitelist) == expected)
    }

    @Test("are found among many entries and many files without comparing every pair")
    func many() {
        let paths = (0..<20_000).map { "folder\($0 % 100)/file\($0).js" }
        let entries = ["https://a.example/app/"] + (0..<5_000).map { "https://a.example/\($0)/x/y/z/file.js" }
        #expect(PackRoots.of(paths, in: entries) == ["https://a.example/app/"])
    }

    @Test(
        "are found beside entries that are too long, or have too many folders, for any URL of the pack",
        arguments: [(2_000, 1), (200_000, 1), (200, 5_000)]
    )
    func excessive(_ folders: Int, _ length: Int) {
        let path = String(repeating: String(repeating: "a", count: length) + "/", count: folders)
        let entries = ["https://a.example/\(path)", "https://a.example/app/"]
        #expect(PackRoots.of(Self.site, in: entries) == ["https://a.example/app/"])
    }
}
