# SPDX-License-Identifier: Apache-2.0
"""The application behind the test origin: see ../README.md."""
