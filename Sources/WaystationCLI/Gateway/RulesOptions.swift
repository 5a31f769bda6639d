import ArgumentParser

/// The options that say what a gateway is for; those of a start and of `trust`.
struct RulesOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The rules, in TOML.", valueName: "file"))
    var rules: String

    @Option(
        help: ArgumentHelp(
            "The directory of the authority that signs certificates for https; created if missing. Implies --proxy.",
            valueName: "dir"
        )
    )
    var authority: String?
}
