"""The programs under test and the load generators: compiled when their sources are newer, or taken as given."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROJECT = os.path.dirname(os.path.dirname(HERE))
BUILT = os.path.join(HERE, '.build')


def compile_c(directory, modules=None):
    """Compiles every .c file of a directory; `modules` maps a program to the pkg-config modules it needs."""
    os.makedirs(BUILT, exist_ok=True)
    files = [os.path.join(directory, f) for f in os.listdir(directory)]
    headers = [os.path.getmtime(f) for f in files if f.endswith('.h')]
    for source in sorted(f for f in files if f.endswith('.c')):
        name = os.path.basename(source)[:-2]
        binary = os.path.join(BUILT, name)
        if os.path.exists(binary) and os.path.getmtime(binary) > max([os.path.getmtime(source), *headers]):
            continue
        module = (modules or {}).get(name)
        flags = subprocess.check_output(['pkg-config', '--cflags', '--libs', module], text=True).split() if module else []
        warnings = ['-Wall', '-Wextra', '-Werror']
        subprocess.run(['gcc', '-std=gnu17', '-D_GNU_SOURCE', '-O2', *warnings, '-o', binary, source, *flags], check=True)


def built(name):
    return os.path.join(BUILT, name)


def link_map(product):
    """Where the linker writes what a product consists of, if it is asked to."""
    return built(f'{product}.map')


def build_swift(package, product, build, scratch=None, mapped=False):
    """The path of a product of a Swift package, built in release mode with a static standard library; None without it.
    `scratch` is where it is built, when not inside the package; `mapped` says that the linker shall write its map too."""
    manifest = os.path.join(package, 'Package.swift')
    if not os.path.exists(manifest):
        return None
    options = [os.path.join(PROJECT, 'packaging', 'device', 'flags'), '--smallest', '--no-property-lists']
    flags = subprocess.check_output(options, text=True).splitlines()
    command = ['nice', 'swift', 'build', '-c', 'release', *flags, '--package-path', package, *(['--scratch-path', scratch] if scratch else [])]
    if mapped:
        os.makedirs(BUILT, exist_ok=True)
        command += ['-Xlinker', f'-Map={link_map(product)}']
    if build:
        # SwiftPM sees a source file that is new in a package beside this one when it reads the manifest again, and not before.
        os.utime(manifest)
        print(f'Building {product} ...', file=sys.stderr)
        result = subprocess.run([*command, '--product', product], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            print(result.stdout[-4000:], f'\n{product} does not build: its rows stay empty.', file=sys.stderr)
            return None
    path = subprocess.run([*command, '--show-bin-path'], capture_output=True, text=True).stdout.strip()
    binary = os.path.join(path, product)
    return binary if os.path.exists(binary) else None
