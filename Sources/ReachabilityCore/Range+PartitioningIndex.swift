// SPDX-License-Identifier: Apache-2.0

extension Range<Int> {
    /// The first number for which `isInSecond` holds, where it holds for all that follow; the end where it holds for none.
    ///
    /// Found by halves. For the indexes of sorted arrays, and on numbers so that nothing generic crosses a module.
    package func partitioningIndex(where isInSecond: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if isInSecond(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
