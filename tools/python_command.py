# SPDX-License-Identifier: Apache-2.0
"""Runs a subcommand of `crest` that is written in Python: tools/crest calls it with its name.

The packages are beside this file, in the source tree and where `make install` put them.
"""

import importlib
import pathlib
import sys

MAINS = {"catalogue": "crest_catalogue.catalogue_cli", "lint": "crest_lint.lint_main",
         "op": "crest_op.op_main", "profile": "crest_profile.profile_main",
         "top": "crest_top.top_main"}

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE)
sys.dont_write_bytecode = True  # a build must leave nothing beside its sources

try:
    MAIN = importlib.import_module(MAINS[sys.argv[1]])
except ImportError as error:
    print(f"crest {sys.argv[1]}: {error}. It needs PyYAML (Debian: python3-yaml), and the packages "
          f"crest_lint and crest_catalogue in {HERE}.", file=sys.stderr)
    sys.exit(2)

sys.exit(MAIN.main(sys.argv[2:]))
