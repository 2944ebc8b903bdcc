// SPDX-License-Identifier: Apache-2.0

#if compiler(<6.3)
    extension Array {
        /// Appends what the closure appends; the standard library has this method from Swift 6.3 on.
        ///
        /// It reserves nothing: with `reserveCapacity(_:)` for each of many short texts, an array is copied
        /// for each.
        mutating func append(addingCapacity: Int, initializingWith body: (inout [Element]) -> Void) {
            body(&self)
        }
    }
#endif
