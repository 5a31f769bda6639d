/// The version of this package, for the tool's `--version` and for the recordings that name their creator.
package enum SoftwareVersion {
    /// The newest release that CHANGELOG.md names; until there is one, the one that is being worked on, and that it is not
    /// released.
    package static let current = "0.1.0-dev (unreleased)"
}
