// SPDX-License-Identifier: Apache-2.0

/// Something by descriptor.
///
/// An array: the kernel gives the lowest free number, so it is as long as files are open, and libcurl asks twice for each request.
struct DescriptorTable<Value> {
    private var slots: ContiguousArray<Value?> = []

    subscript(descriptor: Int32) -> Value? {
        get {
            let index = Int(descriptor)
            return slots.indices.contains(index) ? slots[index] : nil
        }
        set {
            guard descriptor >= 0 else { return }
            while slots.count <= Int(descriptor) { slots.append(nil) }
            slots[Int(descriptor)] = newValue
        }
    }

    /// Takes one out.
    mutating func remove(_ descriptor: Int32) -> Value? {
        guard slots.indices.contains(Int(descriptor)) else { return nil }
        return slots[Int(descriptor)].take()
    }

    /// Calls back with each.
    func forEach(_ body: (Int32, Value) -> Void) {
        for index in slots.indices {
            if let value = slots[index] { body(Int32(index), value) }
        }
    }
}
