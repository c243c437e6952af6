#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes results into the documents: a table between marks is made anew from what a command prints, the prose stays.

  ./run bench window --json | scripts/bench_document.py
  ./run vm 6.12 --config lsm-bpf+icount --job policy-cost | scripts/bench_document.py
  build/hotset selftest --json | scripts/bench_document.py
  build/hotset_unit_tests --gtest_filter='*Coverage*' --gtest_output=json:/dev/stdout | scripts/bench_document.py

The input says what it is of. The marks are '<!-- bench window -->' and '<!-- end of bench window -->', in any of
docs/*.md; with '<!-- selftest -->' ('<!-- selftest full -->' for --full) and '<!-- simulations -->' it is the same.
What has no place in any document is an error, so that no result gets lost. With --parts, rows of several
'selftest --cells' or '--method' together are taken for the whole.
"""
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import sys

DOCUMENTS = pathlib.Path(__file__).resolve().parent.parent / "docs"


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def with_unit(value, unit):
    return number(value) if value is None else f"{number(value)} {unit}"


def today():
    return datetime.datetime.now(datetime.timezone.utc).date()


def place(rows):
    """Rows say where they are from, unless that is here."""
    elsewhere = rows[0].get("machine")
    return f"{elsewhere}, {today()}.\n\n" if elsewhere else machine()


def machine():
    name = platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    return f"{name}, {os.cpu_count()} processors, Linux {platform.release().split('-')[0]}, {today()}.\n\n"


def table(columns, rows):
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def percent(values):
    return f"{100 * statistics.median(values):.2f} %" if values else "–"


def selftest_table(rows):
    """One row a method, over its workloads in pages of 4 KiB: a huge page counts whole, which is a bound and no error."""
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method and row["windows"] and not row["huge"]]
        if not own:
            continue
        covered, windows = sum(row["covered"] for row in own), sum(row["windows"] for row in own)
        lines.append([method, str(len(own)), str(sum(row["verdict"] == "fail" for row in own)),
                      percent([row["error_of_rss"] for row in own]),
                      percent([row["error_of_wss"] for row in own if row["hot"] == 0.01]),
                      f"{covered} of {windows} windows",
                      f"{statistics.median(row['cpu_ms'] for row in own):.2f} ms"])
    return table(["method", "workloads", "failed", "error, of RSS", "error, of WSS where 1 % is hot",
                  "truth in the interval", "CPU"], lines)


def full_selftest_table(rows):
    """One row for each method and part of the matrix, in pages of 4 KiB; huge pages count whole: a row of their own."""
    parts = [("all", lambda row: True)]
    parts += [(f"{100 * hot:g} % hot", lambda row, hot=hot: row["hot"] == hot)
              for hot in sorted({row["hot"] for row in rows})]
    parts += [(f"{size >> 20:,} MiB", lambda row, size=size: row["rss_bytes"] == size)
              for size in sorted({row["rss_bytes"] for row in rows})]
    parts += [(pattern, lambda row, pattern=pattern: row["pattern"] == pattern)
              for pattern in dict.fromkeys(row["pattern"] for row in rows)]
    parts += [(name, lambda row, key=key, value=value: row[key] == value)
              for name, key, value in (("contiguous", "scattered", False), ("scattered", "scattered", True),
                                       ("private", "shared", False), ("shared", "shared", True))]
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        measured = [row for row in rows if row["method"] == method and row["windows"]]
        for name, belongs in parts:
            own = [row for row in measured if not row["huge"] and belongs(row)]
            if own:
                lines.append([method, name] + columns_of_full(own))
        huge = [row for row in measured if row["huge"]]
        if huge:
            lines.append([method, "huge pages"] + columns_of_full(huge))
    return table(["method", "workloads", "how many", "failed", "error, of RSS", "worst", "error, of WSS",
                  "nine in ten below", "truth in the interval", "CPU"], lines)


def columns_of_full(own):
    of_rss, of_wss = [row["error_of_rss"] for row in own], sorted(row["error_of_wss"] for row in own)
    covered, windows = sum(row["covered"] for row in own), sum(row["windows"] for row in own)
    return [str(len(own)), str(sum(row["verdict"] == "fail" for row in own)),
            percent(of_rss), f"{100 * max(of_rss):.2f} %",
            percent(of_wss), f"{100 * of_wss[min(len(of_wss) - 1, len(of_wss) * 9 // 10)]:.2f} %",
            f"{covered:,} of {windows:,} windows", f"{statistics.median(row['cpu_ms'] for row in own):.2f} ms"]


def bench_table(rows):
    """Where all have the same peer, its name is the column's; else it stands beside each of its values."""
    peers = {row["peer_name"] for row in rows}
    lines = []
    for row in rows:
        unit, metric = row["unit"], row["metric"].replace("_", " ")
        peer = with_unit(row["peer"], unit)
        if len(peers) > 1 and row["peer"] is not None:
            peer += f" ({row['peer_name']})"
        lines.append([row["case"], f"{metric}, {row['method']}" if "method" in row else metric,
                      with_unit(row["hotset"], unit), peer, number(row["ratio"]),
                      with_unit(row["spread"], unit) if row["spread_of"] == "hotset" else number(row["spread"])])
    return table(["case", "metric", "hotset", peers.pop() if len(peers) == 1 else "beside", "ratio", "spread"], lines)


def simulations_table(tests):
    """The name of a test is 'claim/case', that of its suite 'Each/TrackerCoverage'."""
    lines = [[test["classname"].split("/")[-1].removesuffix("Coverage").lower(),
              test["name"].split("/")[-1].replace("_", " "), test["windows"], f"{float(test['covered']):.1f} %"]
             for test in tests]
    return table(["of", "case", "windows", "truth in the interval"], lines)


def read_input(text):
    """Of each kind of result that is in it, by the name of its marks: where it was measured, and the table."""
    report = re.search(r"^\{\n", text, re.MULTILINE)
    if report:
        suites = json.JSONDecoder().raw_decode(text, report.start())[0]["testsuites"]
        tests = [test for suite in suites for test in suite["testsuite"] if "covered" in test]
        # Simulations have seeds, and give the same on every machine.
        return {"simulations": ("", simulations_table(tests))} if tests else {}
    kinds = {}
    for row in (json.loads(line) for line in text.splitlines() if line.startswith("{")):
        selftest = row.get("schema", "").startswith("hotset.selftest/")
        kinds.setdefault("selftest" if selftest else f"bench {row['bench']}", []).append(row)
    for row in kinds.pop("selftest", []):
        if row["chosen"] and "--parts" not in sys.argv:
            sys.exit("bench_document: a part of the matrix is not its table (--parts: the input has all the parts)")
        kinds.setdefault("selftest" if row["matrix"] == "short" else "selftest full", []).append(row)
    tables = {"selftest": selftest_table, "selftest full": full_selftest_table}
    return {name: (place(rows), tables.get(name, bench_table)(rows)) for name, rows in kinds.items()}


def write(name, place_and_date, lines):
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    marks = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    text = place_and_date + "\n".join(lines) + "\n"
    places = [path for path in sorted(DOCUMENTS.glob("*.md")) if marks.search(path.read_text())]
    for path in places:
        path.write_text(marks.sub(lambda _: begin + text + end, path.read_text()))
    return bool(places)


def main():
    tables = read_input(sys.stdin.read())
    if not tables:
        sys.exit("bench_document: no results on standard input")
    lost = [name for name, table_of in tables.items() if not write(name, *table_of)]
    if lost:
        sys.exit(f"bench_document: no document has a place for {', '.join(lost)}: put '<!-- {lost[0]} -->' and "
                 f"'<!-- end of {lost[0]} -->' there")


if __name__ == "__main__":
    main()
