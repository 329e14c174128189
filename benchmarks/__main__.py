"""Run every ``bench_<topic>.py`` of this folder, or the topics named on the command line.

    python -m benchmarks                 # all of them
    python -m benchmarks forest bounds   # two of them
    python -m benchmarks --quick         # smaller sizes, to see that they run

Each file has ``main(quick: bool)``, which measures us and the peer in one interleaved run and prints ratios.
A topic that fails does not end the others; the exit status tells. At the end stand the targets of
SurewoodClassifier with their numbers, see targets.py.
"""

import argparse
import importlib
import pkgutil
import sys
import time
import traceback

import benchmarks
from benchmarks.targets import report


def topics() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(name.removeprefix("bench_") for name in names if name.startswith("bench_"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="ours and the peer, as ratios")
    parser.add_argument("topics", nargs="*", metavar="topic", help=f"among: {', '.join(topics())}")
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.topics) - set(topics()))
    if unknown:
        parser.error(f"no benchmark called {', '.join(unknown)}; there are {', '.join(topics())}")
    failed = []
    for topic in arguments.topics or topics():
        print(f"\n== {topic} ==", flush=True)
        started = time.perf_counter()
        try:
            importlib.import_module(f"benchmarks.bench_{topic}").main(quick=arguments.quick)
        except Exception:
            traceback.print_exc()
            failed.append(topic)
        print(f"({topic}: {time.perf_counter() - started:.0f} s)", flush=True)
    print(f"\n== targets ==\n{report()}")
    if failed:
        sys.exit(f"these benchmarks failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
