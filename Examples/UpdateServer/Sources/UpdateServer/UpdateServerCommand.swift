import ArgumentParser
import Hummingbird

@main struct UpdateServerCommand: AsyncParsableCommand {}
