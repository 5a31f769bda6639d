import Foundation
import FoundationNetworking
import Waystation
import WaystationRecording
import WaystationStorage

/// The examples in the comments of `WaystationRecording`, compiled and not run.
enum RecordingExamples {
    static func recorder(_ rules: [Rule], _ url: URL, to file: URL) async throws -> Data {
        // snippet: comment-har-recorder
        let recorder = HARRecorder()
        let interceptor = try Interceptor {
            $0.rules = rules
            $0.recorder = recorder
        }
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        let (page, _) = try await session.data(from: url)
        try recorder.write(to: file)
        // end snippet
        return page
    }

    static func fileRecorder(_ rules: [Rule], _ url: URL, to file: URL) async throws -> Data {
        // snippet: comment-file-recorder
        let recorder = try FileRecorder(to: file, as: .wacz)
        let interceptor = try Interceptor {
            $0.rules = rules
            $0.recorder = recorder
        }
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        let (page, _) = try await session.data(from: url)
        try await recorder.finish()
        // end snippet
        return page
    }

    static func export(_ cacheFolder: URL, to file: URL) throws {
        // snippet: recording-export
        let store = try StoreInspector(directory: cacheFolder)
        try store.export(to: file, as: .wacz)
        // end snippet
    }

    static func har(_ file: URL) throws {
        // snippet: comment-har-archive
        let archive = try HARArchive(contentsOf: file)
        for entry in archive.entries { print(entry.request.method, entry.request.url, entry.response.status) }
        // end snippet
    }

    static func entries(_ file: URL) throws {
        // snippet: comment-har-reader
        let reader = try HARReader(contentsOf: file)
        while let item = try reader.next() {
            if case .entry(let entry) = item.content { print(item.place, entry.request.url) }
        }
        // end snippet
    }

    static func warc(_ file: URL) throws {
        // snippet: comment-warc-reader
        let reader = try WARCReader(contentsOf: file)
        while let record = try reader.next() { print(record.type, record.targetURI ?? "-", record.blockLength) }
        // end snippet
    }

    static func importing(_ file: URL, into cache: ResponseCache) async throws {
        // snippet: comment-importing
        let report = try await cache.importRecording(at: file)
        for skipped in report.skipped { print(skipped.url, skipped.detail) }
        // end snippet
    }

    static func playing(_ file: URL, _ date: Date) throws -> Interceptor {
        // snippet: comment-web-archive
        let archive = try WebArchive(contentsOf: file).nearest(to: date)
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .source(archive, orElse: .nowhere))]
        }
        // end snippet
        return interceptor
    }

    static func route(_ file: URL, _ date: Date) throws -> Interceptor {
        // snippet: comment-archive-route
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: try .archive(file: file, at: date))]
        }
        // end snippet
        return interceptor
    }
}
