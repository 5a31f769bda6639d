import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// An ephemeral configuration whose requests wait an hour for their servers, which a busy machine may slow down.
    public static var patient: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 3_600
        return configuration
    }
}
