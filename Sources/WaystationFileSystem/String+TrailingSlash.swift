extension String {
    /// The path without the slash at its end; the root directory keeps its own.
    package var trimmingTrailingSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}
