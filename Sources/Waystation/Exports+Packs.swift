#if Packs
// With these names an app installs and updates packs.
@_exported public import struct WaystationPacks.AppIdentity
@_exported public import struct WaystationPacks.CatalogueSource
@_exported public import struct WaystationPacks.DefaultRouteProbe
@_exported public import struct WaystationPacks.InstalledModule
@_exported public import struct WaystationPacks.InstalledPack
@_exported public import struct WaystationPacks.ModuleID
@_exported public import struct WaystationPacks.ModuleListSource
@_exported public import struct WaystationPacks.ModuleOutcome
@_exported public import struct WaystationPacks.NetworkCondition
@_exported public import protocol WaystationPacks.NetworkProbe
@_exported public import struct WaystationPacks.PackDescription
@_exported public import struct WaystationPacks.PackError
@_exported public import struct WaystationPacks.PackEvent
@_exported public import class WaystationPacks.PackLibrary
@_exported public import struct WaystationPacks.PackManifest
@_exported public import protocol WaystationPacks.PackSource
@_exported public import class WaystationPacks.PackUpdater
@_exported public import struct WaystationPacks.PackVersion
@_exported public import struct WaystationPacks.SinglePackSource
@_exported public import struct WaystationPacks.TrustedKey
@_exported public import struct WaystationPacks.UpdateProgress
@_exported public import struct WaystationPacks.UpdateReport
#endif
