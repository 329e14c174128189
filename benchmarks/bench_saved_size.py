"""Bytes of a saved deep forest beside DF21's directory, for the same data and number of trees.

The peer lives in its own environment: SUREWOOD_PEER_PYTHON is its Python. Needs SUREWOOD_DATA. The trees that
are kept may differ in number (DF21 drops layers that did not help), so bytes a tree are compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.bench_deepforest import write_arrays

RUN = Path(__file__).with_name("saved_size_run.py")
SETTINGS = {"letter": (100, 2), "adult": (100, 2)}


def main(quick: bool = False, peer_python: str | None = None) -> None:
    peer = peer_python or os.environ.get("SUREWOOD_PEER_PYTHON")
    if peer is None or not os.environ.get("SUREWOOD_DATA", "").strip():
        print("set SUREWOOD_PEER_PYTHON to a Python that has DF21, and SUREWOOD_DATA to the data")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, (n_trees, n_layers) in SETTINGS.items():
            arrays = write_arrays(name, Path(folder))
            n_trees = 10 if quick else n_trees
            ours, theirs = (
                once(python, kind, arrays, n_trees, n_layers)
                for python, kind in ((sys.executable, "ours"), (peer, "df21"))
            )
            each = ours["bytes"] / ours["trees"], theirs["bytes"] / theirs["trees"]
            print(
                f"{name}: ours {ours['bytes'] / 1e6:.1f} MB ({ours['trees']} trees), DF21 "
                f"{theirs['bytes'] / 1e6:.1f} MB ({theirs['trees']} trees); a tree {each[0] / 1e3:.1f} and "
                f"{each[1] / 1e3:.1f} kB, ratio {each[0] / each[1]:.3f} (bar 0.333)",
                flush=True,
            )


def once(python: str, kind: str, arrays: Path, n_trees: int, n_layers: int) -> dict[str, int]:
    command = [python, str(RUN), kind, str(arrays), str(n_trees), str(n_layers)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        raise SystemExit(f"{kind} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
