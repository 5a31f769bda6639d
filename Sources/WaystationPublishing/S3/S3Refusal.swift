import Foundation
import HTTPTypes
import WaystationFields
import WaystationPacks

extension S3Bucket {
    /// The error for a reply that was not expected, with advice.
    func refusal(_ reply: S3Reply, _ key: String) -> PackError {
        let answer = "the store answered \(reply.status)" + (reply.code.map { " \($0.shown())" } ?? "")
        return PackError(.refused, "\(location)/\(key): \(answer); \(advice(reply))")
    }

    private func advice(_ reply: S3Reply) -> String {
        let own = configuration.region
        let region = (S3Text(reply.body)["Region"] ?? Self.bucketRegion.flatMap { reply.fields[$0] })?.shown()
        switch (reply.status, reply.code) {
        case (_, "PermanentRedirect"), (_, "TemporaryRedirect"), (_, "AuthorizationHeaderMalformed"), (301, _),
            (307, _):
            guard let region, region != own else {
                return "the bucket is in another region than \(own), or at another endpoint: set AWS_REGION, and "
                    + "AWS_ENDPOINT_URL_S3 for a store other than AWS"
            }
            return "the bucket is in the region \(region), not in \(own): set AWS_REGION=\(region)"
        case (_, "InvalidAccessKeyId"):
            return "the store does not know the access key \(configuration.credentials): check AWS_ACCESS_KEY_ID, and "
                + "that the endpoint is that of the store which issued it"
        case (_, "SignatureDoesNotMatch"):
            return "the secret key does not belong to the access key \(configuration.credentials): check "
                + "AWS_SECRET_ACCESS_KEY"
        case (_, "ExpiredToken"), (_, "InvalidToken"):
            return "the temporary credentials are not valid any more: get new ones, with AWS_SESSION_TOKEN"
        case (_, "RequestTimeTooSkewed"):
            return "this machine's clock is wrong by many minutes: set it"
        case (_, "NoSuchBucket"):
            return "there is no bucket \(location.bucket) at \(address.scheme)://\(address.host): create it, or check "
                + "its name and the endpoint"
        case (401, _), (403, _):
            return "the credentials of \(configuration.credentials) do not allow this: allow s3:GetObject, "
                + "s3:PutObject, s3:DeleteObject and s3:ListBucket for the bucket and its prefix"
        case (404, _):
            return "there is no such object or bucket: check the name of the bucket, and the endpoint"
        case (409, _): return "another write of this object is under way: try again later"
        case (501, _):
            return "the store lacks a feature that publishing needs, such as conditional writes: use another store, or "
                + "publish into a directory and copy that"
        case (429, _), (503, _): return "the store is busy: try again later"
        case (500..., _): return "the store failed: try again later"
        default: return "check the bucket, the region and the endpoint"
        }
    }

    private static let bucketRegion = HTTPField.Name("x-amz-bucket-region")
}
