import CWaystation.SQLite
import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTestSupport

// snippet: page-database
/// The pages in a SQLite file with the table `pages (path TEXT PRIMARY KEY, type TEXT, body BLOB)`.
actor PageDatabase {
    struct Failure: Error { let message: String }

    private let connection: OpaquePointer?

    init(file: URL) throws {
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(file.path, &opened, SQLITE_OPEN_READONLY, nil)
        connection = opened
        guard status == SQLITE_OK else { throw Failure(message: String(cString: sqlite3_errmsg(opened))) }
    }

    isolated deinit { sqlite3_close_v2(connection) }

    func page(at path: String) throws -> (type: String, body: Data)? {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        sqlite3_prepare_v2(connection, "SELECT type, body FROM pages WHERE path = ?", -1, &statement, nil)
        sqlite3_bind_text(statement, 1, path, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        switch sqlite3_step(statement) {
        case SQLITE_ROW:
            let body = sqlite3_column_blob(statement, 1).map {
                Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, 1)))
            }
            return (sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "text/html", body ?? Data())
        case SQLITE_DONE: return nil
        default: throw Failure(message: String(cString: sqlite3_errmsg(connection)))
        }
    }
}

struct PagesInDatabase: AnswerSource {
    let database: PageDatabase
    let name = "pages"

    func answer(to request: SourceRequest) -> SourceAnswer {
        guard ["GET", "HEAD"].contains(request.method) else { return .declined }
        return .later {
            guard let page = try await database.page(at: request.url.path) else { return .declined }
            return .response(headerFields: ["Content-Type": page.type], body: page.body)
        }
    }
}
// end snippet

@Suite("The documentation's example of an own source")
struct OwnSourceExampleTests {
    @Test("pages come from a SQLite file, and all others from the next source")
    func pages() async throws {
        let folder = try TemporaryDirectory()
        let databaseFile = folder.url.appending(path: "pages.sqlite")
        let siteFolder = folder.url.appending(path: "site")
        try folder.write("from the folder", to: "site/help.txt")
        try fill(databaseFile)
        // snippet: page-database-rule
        let pages = PagesInDatabase(database: try PageDatabase(file: databaseFile))
        let interceptor = try Interceptor {
            $0.rules = [
                .allow(
                    "https://shop.example/**",
                    via: .source(pages, orElse: .files(in: siteFolder, at: "https://shop.example/"))
                )
            ]
        }
        // end snippet
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let (page, response) = try await session.data(from: try #require(URL(string: "https://shop.example/cart?x=1")))
        #expect(String(decoding: page, as: UTF8.self) == "<h1>Cart</h1>")
        let head = try #require(response as? HTTPURLResponse)
        #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/html; charset=utf-8")
        #expect(head.value(forHTTPHeaderField: "Cache-Status") == "Waystation; hit; detail=pages")
        let (help, _) = try await session.data(from: try #require(URL(string: "https://shop.example/help.txt")))
        #expect(String(decoding: help, as: UTF8.self) == "from the folder")
    }

    @Test("a missing file is refused, and a file without the pages passes the load on", arguments: ["", "no database"])
    func damage(content: String) async throws {
        let folder = try TemporaryDirectory()
        #expect(throws: PageDatabase.Failure.self) { try PageDatabase(file: folder.url.appending(path: "none.sqlite")) }
        try folder.write("the next source", to: "site/a.txt")
        try folder.write(content, to: "damaged.sqlite")
        let file = folder.url.appending(path: "damaged.sqlite")
        let pages = PagesInDatabase(database: try PageDatabase(file: file))
        let site = Route.files(in: folder.url.appending(path: "site"), at: "https://shop.example/", orElse: .nowhere)
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .source(pages, orElse: site))]
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let (text, _) = try await session.data(from: try #require(URL(string: "https://shop.example/a.txt")))
        #expect(String(decoding: text, as: UTF8.self) == "the next source")
    }

    private func fill(_ file: URL) throws {
        var database: OpaquePointer?
        try #require(sqlite3_open(file.path, &database) == SQLITE_OK)
        defer { sqlite3_close(database) }
        let statements = """
            CREATE TABLE pages (path TEXT PRIMARY KEY, type TEXT, body BLOB);
            INSERT INTO pages VALUES ('/cart', 'text/html; charset=utf-8', '<h1>Cart</h1>');
            """
        try #require(sqlite3_exec(database, statements, nil, nil, nil) == SQLITE_OK)
    }
}
