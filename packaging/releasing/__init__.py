# SPDX-License-Identifier: Apache-2.0
"""The parts of packaging/release: what a release is made of, and how a folder of it is checked."""


class Refused(Exception):
    """Why no release can be made or checked, and what to do about it; for the last line on standard error."""
