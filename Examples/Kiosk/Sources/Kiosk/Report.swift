import Foundation
import Synchronization

/// The report of a walk: a page with a picture of each step beside it.
final class Report: Sendable {
    private struct Step {
        let title: String
        let note: String
        let picture: String
    }

    /// The report's page.
    let file: URL
    private let folder: URL
    private let steps = Mutex<[Step]>([])
    private let say: @Sendable (String) -> Void

    /// Begins a report.
    ///
    /// - Parameters:
    ///   - folder: The folder of the report, made if it is missing. Files of an earlier report are replaced.
    ///   - say: Gets each step as a line of text.
    /// - Throws: The error of making the folder.
    init(in folder: URL, _ say: @escaping @Sendable (String) -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        (self.folder, self.say) = (folder, say)
        file = folder.appending(path: "index.html")
    }

    /// Adds a step, and writes its picture.
    ///
    /// - Parameters:
    ///   - title: The step in one sentence.
    ///   - note: A further line about the step, such as the source of the page.
    ///   - picture: A PNG.
    /// - Throws: The error of writing the picture.
    func add(_ title: String, _ note: String, picture: Data) throws {
        let number = steps.withLock { steps in
            steps.append(Step(title: title, note: note, picture: String(format: "%02d.png", steps.count + 1)))
            return steps.count
        }
        try picture.write(to: folder.appending(path: String(format: "%02d.png", number)))
        say("\(number). \(title)" + (note.isEmpty ? "" : "\n   \(note)"))
    }

    /// Writes the page.
    func write() throws {
        let figures = steps.withLock { $0 }.enumerated().map { number, step in
            """
            <figure><figcaption><h2>\(number + 1). \(step.title.escaped)</h2><p>\(step.note.escaped)</p></figcaption>
            <img src="\(step.picture)" alt="What the browser showed" width="1280" height="800"></figure>
            """
        }
        let page = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><title>A kiosk, online and offline</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <style>
            :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
            body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
            figure { margin: 0 0 3rem } h2 { font-size: 1.1rem; margin: 0 } p { margin: 0 0 0.5rem }
            img { max-width: 100%; height: auto; border: 1px solid #888 }
            </style></head>
            <body><h1>A kiosk, online and offline</h1>
            \(figures.joined(separator: "\n"))
            </body></html>
            """
        try Data(page.utf8).write(to: file)
    }
}

extension String {
    fileprivate var escaped: String { replacing("&", with: "&amp;").replacing("<", with: "&lt;") }
}
