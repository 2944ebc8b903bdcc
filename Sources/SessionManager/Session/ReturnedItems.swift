// SPDX-License-Identifier: Apache-2.0

/// What goes back to the thread that made it, to be let go of there.
///
/// glibc's malloc(3) keeps what a thread frees for that thread; what another thread frees goes back under a
/// lock, which the maker needs whenever it runs out of its own. A few are gone through at a time: as many as
/// a thread keeps of a size (7), and by then hardly one is still in use where it was read.
struct ReturnedItems<Item> {
    private static var batch: Int { 6 }
    /// More do not wait: they go where they are.
    static var limit: Int { 64 }

    private var items: [Item] = []
    /// Empty room for the next ones.
    private var room: [Item] = []

    /// Takes one in, where there is room.
    mutating func add(_ item: Item) { if items.count < Self.limit { items.append(item) } }

    /// Whether enough has come together, or `all` are to go, to let go of some now.
    func isDue(all: Bool) -> Bool { items.count >= (all ? 1 : Self.batch) }

    /// What is to be let go of now: nothing, until enough has come together.
    mutating func take(all: Bool) -> [Item] {
        guard isDue(all: all) else { return [] }
        var taken: [Item] = []
        swap(&taken, &items)
        swap(&items, &room)
        return taken
    }

    /// Takes the emptied array back.
    mutating func lend(_ room: [Item]) { self.room = room }
}
