@_exported public import WaystationOrigin

@_exported public import struct WaystationRecording.RecordingError
@_exported public import struct WaystationRecording.Redaction
