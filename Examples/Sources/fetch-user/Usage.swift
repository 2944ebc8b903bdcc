// SPDX-License-Identifier: Apache-2.0

import Glibc

func fatalUsage() -> Never {
    print("usage: fetch-user BASE-URL PIN")
    exit(64)
}
