"""What the bytes of a program are, by the linker's map: which module or library they come from, and of what kind they are."""
# SPDX-License-Identifier: Apache-2.0
import collections
import os
import re

# A section of the program by the beginning of its name, the first that fits. What is all zeros has no bytes in the file.
KINDS = [
    ('', ('.bss', '.tbss', '.relro_padding', 'swift5_backtrace', '.debug', '.comment', '.symtab', '.strtab', '.shstrtab')),
    ('metadata', ('swift5_',)),
    ('code', ('.text', '.init', '.fini', '.plt')),
    ('constants', ('.rodata', '.gcc_except_table', '.eh_frame')),
    ('for the loader', ('.dyn', '.gnu', '.hash', '.rela', '.relr', '.note', '.interp')),
    ('variables', ('.data', '.got', '.tdata', '.tm_clone')),
]
COLUMNS = ['code', 'constants', 'metadata', 'variables', 'for the loader']
LINKER = 'linker: shared strings, tables'
# Parts of fewer bytes share a row.
SMALL = 20_000
# A line of the map: two addresses, size, alignment; then the section of the program, or what it has from an object's section.
LINE = re.compile(r' *[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) +\d+ ( *)(.*)$')


def kind(section):
    return next((name for name, beginnings in KINDS if section.startswith(beginnings)), 'variables')


def part(source):
    """The module or library of an object as the map names it: `…/Outbox.build/Lane.swift.o`, `…/libswiftCore.a(Swift.o)`."""
    archive = re.search(r'([^/]+)\.a\([^()]*\)$', source)
    module = re.search(r'/([^/]+)\.build/', source)
    return archive[1].removeprefix('lib') if archive else module[1] if module else LINKER


def contents(path):
    """The bytes of a program's parts, each by its kind; None without a map."""
    if not path or not os.path.exists(path):
        return None
    found, current = collections.defaultdict(collections.Counter), ''
    with open(path, encoding='utf-8', errors='replace') as lines:
        for size, indent, text in (line.groups() for line in map(LINE.match, lines) if line):
            if not indent:
                current = kind(text)
            elif len(indent) == 8 and current and ':(' in text:
                found[part(text[:text.rindex(':(')])][current] += int(size, 16)
    return found


def rows(reach, monitor, sizes):
    """Rows of a table: the parts of `reach` by kind, and what the monitor-only program has of the same; the largest comes first."""
    whole = {name: sum(kinds.values()) for name, kinds in reach.items()}
    names = sorted((name for name in whole if whole[name] >= SMALL), key=whole.get, reverse=True)
    small = sum((reach[name] for name in reach if name not in names), collections.Counter())
    small_monitor = sum((monitor[name] for name in monitor if name not in names), collections.Counter())
    table = [(name, reach[name], monitor.get(name, {})) for name in names] + [('others', small, small_monitor)]
    columns = [[*(kinds.get(word, 0) for word in COLUMNS), sum(kinds.values()), sum(of_monitor.values())] for _, kinds, of_monitor in table]
    sums = [sum(column) for column in zip(*columns)]
    rest = ['–'] * len(COLUMNS) + [size - of_parts if size else None for size, of_parts in zip(sizes, sums[-2:])]
    return [*zip((name for name, *_ in table), columns), ('alignment, headers', rest), ('whole file', [*sums[:-2], *sizes])]
