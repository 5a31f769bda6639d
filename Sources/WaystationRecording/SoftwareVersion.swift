/// The version of this package, for the tool's `--version` and for the creator in recordings.
package enum SoftwareVersion {
    /// The newest version in CHANGELOG.md.
    ///
    /// Tests compare it with the change log and with the documents.
    package static let current = "0.1.0"
}
