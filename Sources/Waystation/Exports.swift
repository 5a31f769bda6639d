// An app imports `Waystation` alone: patterns, conditions, byte counts and store events are part of its vocabulary.
@_exported public import WaystationCaching
@_exported public import WaystationCookies
@_exported public import WaystationPacks
@_exported public import WaystationRules
@_exported public import WaystationStorage
