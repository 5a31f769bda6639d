@_exported public import WaystationOrigin
@_exported public import WaystationProcesses
@_exported public import WaystationTesting
