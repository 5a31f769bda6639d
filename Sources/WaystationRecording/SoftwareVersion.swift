/// The version of this package, for the tool's `--version` and for the creator in recordings.
package enum SoftwareVersion {
    /// The newest release in CHANGELOG.md; before the first release, the version in development, marked as unreleased.
    package static let current = "0.1.0-dev (unreleased)"
}
