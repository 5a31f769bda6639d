package import WaystationStorage

extension StoreEnvironment {
    /// The real disk, with an hour for each look-up, so that a test does not miss an entry because the disk of a
    /// crowded machine stood still for some seconds.
    package static var patient: StoreEnvironment {
        var environment = StoreEnvironment()
        environment.lookUpInterval = 3_600
        return environment
    }
}
