# SPDX-License-Identifier: Apache-2.0
"""HTTP: what a request and a gigabyte cost a client, beside the least that libcurl allows.

Hides the standard library's package of this name inside the benchmarks, which speak HTTP through the programs under test alone."""
