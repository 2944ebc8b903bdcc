// SPDX-License-Identifier: Apache-2.0

extension Range<Int> {
    /// The first number for which `isInSecond` holds, if it holds for all that follow; the end if it holds
    /// for none.
    ///
    /// A binary search for indexes of sorted arrays; on numbers, so that no generic code crosses a module.
    package func partitioningIndex(where isInSecond: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if isInSecond(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
