import ArgumentParser

/// The options that `gateway` and `gateway trust` share.
struct RulesOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The rules, in TOML.", valueName: "file"))
    var rules: String

    @Option(
        help: ArgumentHelp(
            "The directory of the authority that signs certificates for https; created if missing. A gateway with an authority is a proxy.",
            valueName: "dir"
        )
    )
    var authority: String?
}
