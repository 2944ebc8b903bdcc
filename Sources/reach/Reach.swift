import ArgumentParser
@main struct Reach: ParsableCommand {}
