// An app imports only `Waystation`, whose API uses cookies, packs, patterns, conditions, byte counts and store events.
@_exported public import WaystationCaching
@_exported public import WaystationCookies
@_exported public import WaystationPacks
@_exported public import WaystationRules
@_exported public import WaystationStorage
