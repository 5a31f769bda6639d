// `import Waystation` brings the names of other modules that the public interface of `Waystation` uses. Every other name
// is imported from the module that declares it.
@_exported public import struct WaystationCaching.CachingRules
@_exported public import struct WaystationCookies.Cookie
@_exported public import enum WaystationCookies.CookieChange
@_exported public import struct WaystationCookies.CookieError
@_exported public import struct WaystationCookies.CookieRules
@_exported public import enum WaystationCookies.SameSite
@_exported public import protocol WaystationFields.CodedError
@_exported public import enum WaystationRules.QueryCondition
@_exported public import struct WaystationRules.RuleRequest
@_exported public import struct WaystationRules.RuleWarning
@_exported public import struct WaystationStorage.ByteCount
@_exported public import struct WaystationStorage.StoreEvent
@_exported public import struct WaystationStorage.StoreStatistics
@_exported public import struct WaystationTransport.ResponseHead
@_exported public import protocol WaystationTransport.Transport
@_exported public import protocol WaystationTransport.TransportExchange
@_exported public import protocol WaystationTransport.TransportReceiver
@_exported public import class WaystationTransport.URLSessionTransport
