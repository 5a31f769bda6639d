import Foundation
import WaystationStorage

/// The example in the comments of `WaystationStorage/Files`, compiled and not run.
enum FilesExamples {
    static func directory() throws {
        // snippet: comment-offline-directory
        let site = try OfflineDirectory(URL(filePath: "site"))
        switch site.answer(FileRequest(path: "guide/")) {
        case .answer(let answer): print(answer.headerFields)  // of guide/index.html: ETag, Last-Modified, Content-Type
        case .notFound: print("there is no such file")
        case .refused(let refusal): print(refusal)
        case .failed(let error): print(error)
        }
        // end snippet
    }
}
