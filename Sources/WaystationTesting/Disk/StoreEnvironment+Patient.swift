package import WaystationStorage

extension StoreEnvironment {
    /// The real disk, given an hour for each look-up: what a test expects to find must not be missed because the disk of
    /// a crowded machine stood still for some seconds.
    package static var patient: StoreEnvironment {
        var environment = StoreEnvironment()
        environment.lookUpInterval = 3_600
        return environment
    }
}
