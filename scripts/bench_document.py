#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the rows of a benchmark or of the self test into docs/results.md: the table between its marks is made anew.

  ./run bench access --json | scripts/bench_document.py
  build/hotset selftest --json | scripts/bench_document.py

The rows say what they are of. A page without marks for it is an error, so that no result gets lost.
"""
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "results.md"


def number(value):
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def percent(values):
    return f"{100 * statistics.median(values):.2f} %" if values else "–"


def selftest_table(rows):
    """One row a method, over its workloads in pages of 4 KiB: a huge page counts whole, which is a bound and no error."""
    yield "| method | workloads | failed | error, of RSS | error, of WSS where 1 % is hot | truth in the interval | CPU |"
    yield "|---|---|---|---|---|---|---|"
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method and row["windows"] and not row["huge"]]
        if not own:
            continue
        covered, windows = sum(row["covered"] for row in own), sum(row["windows"] for row in own)
        yield "| {} | {} | {} | {} | {} | {} of {} windows | {:.2f} ms |".format(
            method, len(own), sum(row["verdict"] == "fail" for row in own), percent([r["error_of_rss"] for r in own]),
            percent([r["error_of_wss"] for r in own if r["hot"] == 0.01]), covered, windows,
            statistics.median(row["cpu_ms"] for row in own))


def bench_table(rows):
    yield "| case | metric | hotset | {} | ratio | spread |".format(rows[0]["peer_name"])
    yield "|---|---|---|---|---|---|"
    for row in rows:
        metric = f"{row['metric']}, {row['method']}" if "method" in row else row["metric"]
        values = (number(row["hotset"]), number(row["peer"]), row["unit"])
        yield "| {} | {} | {} {u} | {} {u} | {} | {} |".format(
            row["case"], metric, values[0], values[1], number(row["ratio"]), number(row["spread"]), u=values[2])


def main():
    rows = [json.loads(line) for line in sys.stdin if line.startswith("{")]
    if not rows:
        sys.exit("bench_document: no rows on standard input")
    selftest = rows[0].get("schema", "").startswith("hotset.selftest/")
    name, table = ("selftest", selftest_table) if selftest else (f"bench {rows[0]['bench']}", bench_table)
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    page = PAGE.read_text()
    marks = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not marks.search(page):
        sys.exit(f"bench_document: docs/results.md has no place for {name}: put '{begin.strip()}' and "
                 f"'{end.strip()}' there")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    text = f"{processor()}, {os.cpu_count()} processors, Linux {platform.release().split('-')[0]}, {today}.\n\n"
    text += "\n".join(table(rows)) + "\n"
    PAGE.write_text(marks.sub(lambda _: begin + text + end, page))


if __name__ == "__main__":
    main()
