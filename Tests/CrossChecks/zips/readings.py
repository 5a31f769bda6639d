#!/usr/bin/env python3
"""Prints what other readers say about the zips of the corpus beside what Waystation says: readings.py FOLDER [NAME]

`OtherReadersTests` makes the zips, has each read by unzip, bsdtar, Python's zipfile, 7z if it is installed and Waystation,
and writes the readings into FOLDER, one JSON file for each zip. The tests themselves fail on a reading without a reason.
This program prints a row for each zip about which Waystation decides otherwise than the others agree, or although they do
not agree, with the reason, and a summary. It fails if the corpus is too small. NAME, a part of the names of zips, chooses
some of them and prints every reading.
"""

import collections
import json
import pathlib
import sys

PEERS = ("unzip", "bsdtar", "python3", "7z")
SMALLEST = 40
# Some writers in the corpus are commands, whose lines break.
WIDTH = 100


def shown(reading):
    if "refusal" in reading:
        return f"refused: {reading['refusal']}"
    return ", ".join(f"{path} ({what})" if not path.endswith("/") else path for path, what in
                     sorted(reading["files"].items())) or "no files"


def main():
    folder, *names = sys.argv[1:]
    zips = [json.loads(file.read_text()) for file in pathlib.Path(folder).glob("*.json")]
    zips = sorted((zip for zip in zips if not names or names[0] in zip["archive"]), key=lambda zip: zip["archive"])
    for zip in zips:
        if not names and "reason" not in zip:
            continue
        title = " ".join(zip["archive"].split())
        print(f"{title[:WIDTH]}: {zip['verdict']}{': ' + zip['reason'] if 'reason' in zip else ''}")
        if names:
            for reader in (*PEERS, "waystation"):
                if reader in zip["readings"]:
                    print(f"  {reader}: {shown(zip['readings'][reader])}")
    count = collections.Counter(zip["verdict"] for zip in zips)
    seven = [zip["readings"] for zip in zips if "7z" in zip["readings"]]
    same = sum(readings["7z"].get("files") == readings["waystation"].get("files") for readings in seven)
    print(f"{len(zips)} zips: {count['read']} are read as unzip, bsdtar and Python read them, {count['disputed']} are refused"
          f" because these do not agree, {count['refused']} are refused and {count['decided']} are read for the reasons above"
          + (f"; 7z reads or refuses {same} of {len(seven)} in the same way" if seven else "; 7z is not installed"))
    sys.exit(0 if names or len(zips) >= SMALLEST else f"the corpus has fewer than {SMALLEST} zips")


if __name__ == "__main__":
    main()
