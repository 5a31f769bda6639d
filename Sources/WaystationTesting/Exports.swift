@_exported public import WaystationOrigin

@_exported public import protocol WaystationHTTP.CodedError
@_exported public import struct WaystationRecording.RecordingError
@_exported public import struct WaystationRecording.Redaction
