// `import Waystation` brings the names of other modules that the public interface of `Waystation` uses. Every other name
// is imported from the module that declares it, and so are those of HTTPTypes: other packages have an `HTTPRequest`, too.
@_exported public import struct WaystationHTTP.CachingRules
@_exported public import protocol WaystationHTTP.CodedError
@_exported public import struct WaystationHTTP.Cookie
@_exported public import enum WaystationHTTP.CookieChange
@_exported public import struct WaystationHTTP.CookieError
@_exported public import struct WaystationHTTP.CookieRules
@_exported public import enum WaystationHTTP.QueryCondition
@_exported public import struct WaystationHTTP.RuleRequest
@_exported public import struct WaystationHTTP.RuleWarning
@_exported public import enum WaystationHTTP.SameSite
@_exported public import struct WaystationStorage.ByteCount
@_exported public import enum WaystationStorage.PurgeKind
@_exported public import struct WaystationStorage.StoreEvent
@_exported public import struct WaystationStorage.StoreStatistics
