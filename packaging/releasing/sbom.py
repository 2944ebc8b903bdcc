# SPDX-License-Identifier: Apache-2.0
"""The list of what a program is made of, as CycloneDX 1.6 JSON (https://cyclonedx.org/docs/1.6/json/), and whether such a list is
complete for a program."""
import datetime
import json
import uuid

from . import Refused, parts, vendored
from .elf import NotELF, Program

REACH = "reach"
# How a component comes into the process, as a property.
USE, LINKED, LOADED, OPENED = "reach:use", "linked in", "loaded at the start", "opened at run time"
PRIORITY = "dlopen:priority"


def licences(text):
    return [{"expression": text}] if " " in text else [{"license": {"id": text}}]


def properties(**values):
    names = {"use": USE, "priority": PRIORITY, "soname": "reach:soname", "debian": "debian:package"}
    return [{"name": names[key], "value": value} for key, value in values.items() if value]


def swift_packages(packages):
    for package in packages:
        address = package.url.removeprefix("https://")
        purl = f"pkg:swift/{address}@{package.version}"
        yield {
            "type": "library", "bom-ref": purl, "name": package.name, "version": package.version, "scope": "required",
            "licenses": licences(package.licence), "purl": purl,
            "externalReferences": [{"type": "vcs", "url": package.url}],
            "pedigree": {"commits": [{"uid": package.revision, "url": f"{package.url}/commit/{package.revision}"}]},
            "properties": properties(use=LINKED),
        }


def toolchain_parts(program, swift):
    for part in parts.TOOLCHAIN:
        if part.marker in program.data:
            component = {"type": "library", "bom-ref": f"toolchain/{part.name}", "name": part.name, "scope": "required",
                         "description": part.description, "licenses": licences(part.licence), "properties": properties(use=LINKED)}
            if part.of_swift and swift:
                component["version"] = swift
            yield component


def shared_libraries(program):
    """One component for each library of the system; what is opened at run time has the priority of its note."""
    uses = {soname: ("required", LOADED, None) for soname in program.needed()}
    for soname, priority in program.opened().items():
        uses[soname] = ("required" if priority == "required" else "optional", OPENED, priority)
    for soname, (scope, use, priority) in sorted(uses.items()):
        library = parts.SHARED.get(soname)
        if library is None:
            # Swift's own libraries, in a program that is linked with them.
            library = parts.Library(soname.partition(".so")[0], "", parts.SWIFT) if "swift" in soname or "Foundation" in soname else None
        if library is None:
            raise Refused(f"the program uses {soname}, of which packaging/releasing/parts.py knows no licence: add it there")
        yield {
            "type": "library", "bom-ref": f"system/{soname}", "name": library.name, "scope": scope,
            "licenses": licences(library.licence),
            "properties": properties(use=use, soname=soname, priority=priority, debian=library.package),
        }


def make(data, *, version, epoch, swift="", packages=None, commit="", digest=""):
    """The list for a program's bytes. Nothing in it depends on where and when it is made."""
    program = Program(data)
    packages = vendored.listed() if packages is None else packages
    components = [*swift_packages(packages), *toolchain_parts(program, swift), *shared_libraries(program)]
    reference = f"{REACH}@{version}"
    root = {
        "type": "application", "bom-ref": reference, "name": REACH, "version": version, "purl": f"pkg:generic/{reference}?arch={program.architecture}",
        "description": "tells whether the network can be reached, and if not, what is missing",
        "licenses": licences("Apache-2.0"),
    }
    if digest:
        root["hashes"] = [{"alg": "SHA-256", "content": digest}]
    if commit:
        root["pedigree"] = {"commits": [{"uid": commit}]}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{reference}/{program.architecture}/{commit}/{digest}')}", "version": 1,
        "metadata": {"timestamp": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                     "component": root},
        "components": components,
        "dependencies": [{"ref": reference, "dependsOn": [c["bom-ref"] for c in components]}, *({"ref": c["bom-ref"]} for c in components)],
    }


def text(bom):
    return json.dumps(bom, indent=1, ensure_ascii=False) + "\n"


def incomplete(content, data, *, version, packages):
    """Where a list is malformed, or is not that of a program, as sentences."""
    try:
        bom = json.loads(content)
        form = bom["bomFormat"], bom["specVersion"]
        root, components = bom["metadata"]["component"], {c["bom-ref"]: c for c in bom["components"]}
        linked = [target for edge in bom["dependencies"] for target in (edge["ref"], *edge.get("dependsOn", ()))]
        swift = next((c["version"] for c in components.values() if c["bom-ref"].startswith("toolchain/") and "version" in c), "")
        said = root["version"]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        yield f"it is no CycloneDX JSON as packaging/release writes it: {type(error).__name__}: {error}"
        return
    if form != ("CycloneDX", "1.6"):
        yield f"it is {form[0]} {form[1]}, not CycloneDX 1.6"
    if said != version:
        yield f"it is of version {said}, not {version}"
    if len(components) != len(bom["components"]):
        yield "two components have the same bom-ref"
    for reference in sorted(set(linked) - components.keys() - {root.get("bom-ref")}):
        yield f"a dependency names {reference}, which is no component"
    try:
        wanted = {c["bom-ref"]: c for c in make(data, version=version, epoch=0, swift=swift, packages=packages)["components"]}
    except (NotELF, Refused) as error:
        yield str(error)
        return
    if not swift and any(reference.startswith("toolchain/") for reference in wanted):
        yield "the version of Swift's runtime is missing"
    for reference, component in wanted.items():
        if reference not in components:
            yield f"{reference} is missing, which is {component['properties'][0]['value']}"
        else:
            for field in component:
                if components[reference].get(field) != component[field]:
                    yield f"{reference}: {field} is {components[reference].get(field)}, and the program has {component[field]}"
    for reference in sorted(components.keys() - wanted.keys()):
        yield f"{reference} is listed, and the program has no such part"
