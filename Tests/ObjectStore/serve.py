"""An S3-compatible store on loopback for tests: serve.py FILE, with the port in the file.

It is moto's server with what moto leaves out:
- Signatures are checked, by botocore's own implementation, and so is the region.
- A conditional write is one step. moto checks the condition and stores the object in two, without a lock.
- Below the prefix `unconditional/`, the conditions of writes are ignored, as by a store that does not know them.

The bucket is `releases`, the region `us-east-1`, the key `test-key` with the secret `test-secret`.
"""

import sys
import threading

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import WSGIRequestHandler, make_server

KEY, SECRET, REGION, BUCKET = "test-key", "test-secret", "us-east-1", "releases"


class Store:
    def __init__(self):
        self.application = DomainDispatcherApplication(create_backend_app)
        self.changing = threading.Lock()
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket(BUCKET, REGION)

    def __call__(self, environ, start_response):
        refusal = refusal_of(environ)
        if refusal:
            status, code, more = refusal
            body = f"<Error><Code>{code}</Code>{more}</Error>".encode()
            headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
            start_response(status, headers)
            return [body]
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return self.application(environ, start_response)
        if "/unconditional/" in environ["PATH_INFO"]:
            environ.pop("HTTP_IF_MATCH", None)
            environ.pop("HTTP_IF_NONE_MATCH", None)
        with self.changing:
            return list(self.application(environ, start_response))


def refusal_of(environ):
    """The reason for refusing a request: status, code and further elements; None for a request that is allowed."""
    given = environ.get("HTTP_AUTHORIZATION", "")
    parts = dict(part.strip().split("=", 1) for part in given.partition(" ")[2].split(",") if "=" in part)
    scope = parts.get("Credential", "").split("/")
    if len(scope) != 5:
        return "403 Forbidden", "AccessDenied", ""
    if scope[0] != KEY:
        return "403 Forbidden", "InvalidAccessKeyId", ""
    if scope[2] != REGION:
        return "400 Bad Request", "AuthorizationHeaderMalformed", f"<Region>{REGION}</Region>"
    if signature(environ, parts["SignedHeaders"].split(";")) != parts.get("Signature"):
        return "403 Forbidden", "SignatureDoesNotMatch", ""
    return None


def signature(environ, names):
    """The signature of a request by botocore."""
    query = environ.get("QUERY_STRING", "")
    # RAW_URI has the path as it was sent.
    url = f"http://{environ['HTTP_HOST']}{environ['RAW_URI'].partition('?')[0]}" + (f"?{query}" if query else "")
    headers = {}
    for name in names:
        variable = name.upper().replace("-", "_")
        headers[name] = environ.get(variable if name == "content-type" else f"HTTP_{variable}", "")
    request = AWSRequest(method=environ["REQUEST_METHOD"], url=url, headers=headers)
    request.context["timestamp"] = headers["x-amz-date"]
    request.context["payload_signing_enabled"] = True
    auth = Signer(Credentials(KEY, SECRET), "s3", REGION)
    return auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)


class Signer(S3SigV4Auth):
    def headers_to_sign(self, request):
        return request.headers

    def payload(self, request):
        return request.headers["x-amz-content-sha256"]


class Handler(WSGIRequestHandler):
    def log(self, *arguments):
        pass


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as file:
        port = int(file.read())
    make_server("127.0.0.1", port, Store(), threaded=True, request_handler=Handler).serve_forever()
