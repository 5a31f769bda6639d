import Foundation

/// The page that the kiosk shows first.
enum StartPage {
    /// Makes the page.
    ///
    /// - Parameters:
    ///   - shop: The shop's address.
    ///   - lab: The address of JupyterLab.
    /// - Returns: The document, which needs no other file.
    static func html(shop: URL, lab: URL) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head><meta charset="utf-8"><title>Kiosk</title><link rel="icon" href="data:,">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <style>
        :root { color-scheme: light dark; font: 1.25rem/1.4 system-ui, sans-serif }
        body { margin: 0; min-height: 100vh; display: grid; place-content: center; gap: 2rem; padding: 1rem;
            box-sizing: border-box }
        nav { display: flex; flex-wrap: wrap; gap: 1.5rem }
        a { display: block; width: 16rem; padding: 2.5rem 1.5rem; border: 2px solid; border-radius: 1rem;
            color: inherit; text-decoration: none }
        a:hover, a:focus-visible { outline: 4px solid #2f6fdb }
        strong { display: block; font-size: 2rem }
        </style></head>
        <body>
        <h1>What would you like to do?</h1>
        <nav>
        <a href="\(shop)pages/home"><strong>Shop</strong>Instruments and their parts</a>
        <a href="\(lab)lab/index.html"><strong>Notebooks</strong>JupyterLab</a>
        </nav>
        </body>
        </html>
        """
    }
}
