#!/usr/bin/python3
"""Writes the standard resource classes and traits that every new ledger starts with.

The names are facts of the OpenStack libraries os-resource-classes and os-traits; the service reads the generated JSON
and needs no Python. To renew them:

    apt-get install python3-os-resource-classes python3-os-traits
    /usr/bin/python3 scripts/standard-names.py
"""
import importlib.metadata
import json
import pathlib
import sys

try:
    import os_resource_classes
    import os_traits
except ImportError as missing:
    print(f'{missing}: apt-get install python3-os-resource-classes python3-os-traits', file=sys.stderr)
    sys.exit(2)

FOLDER = pathlib.Path(__file__).resolve().parent.parent / 'src' / 'ledger' / 'standard'

# Names newer than the packaged libraries that Placement's own tests (openstack/placement 7ad9ef07) rely on: none so far.
MORE_RESOURCE_CLASSES: list[str] = []
MORE_TRAITS: list[str] = []


def write(file: str, names: list[str], source: str) -> None:
    assert len(names) == len(set(names)), f'{file}: a name appears twice'
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / file).write_text(json.dumps(names, indent=2) + '\n')
    print(f'{file}: {len(names)} names from {source} {importlib.metadata.version(source)}')


# The order of STANDARDS is kept: Placement numbers its classes by it.
write('resource-classes.json', [*os_resource_classes.STANDARDS, *MORE_RESOURCE_CLASSES], 'os-resource-classes')
write('traits.json', sorted({*os_traits.get_traits(), *MORE_TRAITS}), 'os-traits')
