import ArgumentParser
@main struct WaystationCommand: AsyncParsableCommand {}
