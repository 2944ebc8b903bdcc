# SPDX-License-Identifier: Apache-2.0
"""The version of a release, in all places that name it, and its notes in CHANGELOG.md."""
import re

from . import Refused

NUMBER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
UNRELEASED = "Unreleased"
# The first pattern that a file has to match; its group is the version.
PLACES = {
    "Sources/reach/Reach.swift": r'^ *static let version = "([^"]*)"$',
    "Clients/reach-client/Makefile": r"^VERSION = (.*)$",
    "packaging/debian/tree/changelog": r"^reach \(([^)]*)\)",
}
RECIPES = ("packaging/yocto", r"(reach|libreach-client)_(.*)\.bb")


def parse(text):
    """A version of three numbers without leading zeros, as https://semver.org has them."""
    if not NUMBER.fullmatch(text):
        raise Refused(f"{text!r} is no version; it needs three numbers, such as 0.1.0")
    return text


def differing(root, version):
    """The places that name another version, as sentences."""
    for name, pattern in PLACES.items():
        path = root / name
        found = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE) if path.is_file() else None
        if not found:
            yield f"{name} names no version"
        elif found[1] != version:
            yield f"{name} has {found[1]}, not {version}"
    folder, pattern = RECIPES
    for path in sorted((root / folder).glob("*.bb")):
        found = re.fullmatch(pattern, path.name)
        if not found or found[2] != version:
            yield f"{folder}/{path.name} is not named after {version}"


def sections(changelog):
    """The sections of the second level: their headings with their text."""
    parts = re.split(r"^## (.+)$", changelog, flags=re.MULTILINE)
    return dict(zip((heading.strip() for heading in parts[1::2]), (text.strip() for text in parts[2::2])))


def notes(changelog, version, candidate=False):
    """What CHANGELOG.md says of a version. A candidate's notes are those of the unreleased changes."""
    found = {heading: text for heading, text in sections(changelog).items()
             if re.match(rf"\[?{re.escape(version)}\]?(?:\s|$)", heading)}
    if len(found) > 1:
        raise Refused(f"CHANGELOG.md has two sections for {version}: keep one")
    if candidate and not found:
        found = {UNRELEASED: sections(changelog).get(UNRELEASED, "")}
    if not found:
        raise Refused(f"CHANGELOG.md has no section '## {version}': rename '## {UNRELEASED}', or make a candidate with --candidate")
    heading, text = found.popitem()
    if not text:
        raise Refused(f"CHANGELOG.md says nothing under '## {heading}'")
    if candidate:
        text = f"A candidate of {version}: not released, for trying out.\n\n{text}"
    return text + "\n"
