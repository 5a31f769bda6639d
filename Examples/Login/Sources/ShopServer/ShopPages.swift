import Foundation
import HTTPTypes
import Hummingbird

/// The pages of the shop: some are for everybody, others only for customers who are logged in.
struct ShopPages: Sendable {
    private struct Item: Decodable {
        let item: String
    }

    let shop: Shop

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        let pages = router.group("/pages")
        pages.get("/home") { request, _ in
            page(
                """
                <p>Instruments and their parts.</p><img src="files/gear.svg" alt="A gear">
                <a href="tel:+44-20-7946-0018">Call us</a>
                <a href="cart">Cart</a>
                <a href="orders?needAuth=true">Orders</a>
                <a href="wishes?needAuth=true">Wishes</a>
                <a href="address?needAuth=true&amp;form=short">Address</a>
                """,
                to: request
            )
        }
        for (name, part) in [("orders", \Customer.orders), ("wishes", \.wishes), ("address", \.address)] {
            pages.get("/\(name)") { request, _ in
                guard let customer = shop.customer(of: request) else { return signInPage(for: request) }
                return page("<p>\(name) of \(customer.name): \(customer[keyPath: part])</p>", to: request)
            }
        }
        pages.get("/cart") { request, _ in
            page("<p>In your cart: \((cart(of: request) ?? "nothing").escapedForHTML)</p>", to: request)
        }
        pages.post("/cart") { request, context in
            let item = try await URLEncodedFormDecoder().decode(Item.self, from: request, context: context).item
            guard !item.isEmpty, item.utf8.count < 100, item.allSatisfy({ $0.isASCII && $0.isLetter }) else {
                throw HTTPError(.unprocessableContent, message: "an item's name consists of letters")
            }
            let items = [cart(of: request), item].compactMap(\.self).joined(separator: ".")
            var response = Response.redirect(to: "/pages/cart")
            response.headers[.setCookie] = "cart=\(items); Path=/pages; Secure; SameSite=Lax"
            return response
        }
        for (name, type, text) in Self.files {
            pages.get("/files/\(name)") { _, _ in
                Response(status: .ok, headers: [.contentType: type], body: .init(byteBuffer: .init(string: text)))
            }
        }
    }

    private func cart(of request: Request) -> String? { request.cookies["cart"]?.value }

    private func signInPage(for request: Request) -> Response {
        var response = page(
            #"<form action="sign-in" method="post">Name <input name="name"> Password <input name="password"></form>"#,
            to: request
        )
        response.status = .unauthorized
        response.headers[.wwwAuthenticate] = HTTPError.signInFirst.headers[.wwwAuthenticate]
        return response
    }

    /// Makes a page; the app's cookie chooses the theme.
    private func page(_ contents: String, to request: Request) -> Response {
        let theme = request.cookies["theme"]?.value == "dark" ? "dark" : "light"
        let html = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><title>Shop</title>
            <link rel="stylesheet" href="/pages/files/shop.css"><script src="/pages/files/shop.js" defer></script></head>
            <body class="\(theme)">
            \(contents)
            </body>
            </html>
            """
        return Response(
            status: .ok,
            // Only the reader's own cache may store the page, and must validate it each time.
            headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "private, no-cache"],
            body: .init(byteBuffer: .init(string: html))
        )
    }

    private static let files = [
        (
            "shop.css", "text/css",
            """
            body { font: 1.1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }
            img { display: block; width: 6rem; height: 6rem }
            a { margin-right: 1rem }
            body.dark { background: #222; color: #eee }

            """
        ),
        ("shop.js", "text/javascript", "document.title += \" of instruments\";\n"),
        (
            "gear.svg", "image/svg+xml",
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="3"/></svg>"#
        ),
    ]
}

extension String {
    fileprivate var escapedForHTML: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
