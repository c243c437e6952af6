#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ./run test counts (scripts/gtest.awk): a crash in a test, and a complaint after the last one, are failures.
set -euo pipefail
cd "$(dirname "$0")/../.."
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

awk -v stage=s -v results="$rows" -f scripts/gtest.awk >/dev/null <<'TEXT'
[ RUN      ] A.prints_without_a_line_feed
text[       OK ] A.prints_without_a_line_feed (0 ms)
[ RUN      ] A.is_skipped
a_test.cpp:1: Skipped
no such kernel
b_test.cpp:2: Skipped
another reason
[  SKIPPED ] A.is_skipped (0 ms)
[ RUN      ] A.fails
a_test.cpp:3: Failure
[  FAILED  ] A.fails, where GetParam() = 1 (0 ms)
[EXIT] 1 A
[ RUN      ] B.crashes
[EXIT] 134 B
[ RUN      ] C.leaks
[       OK ] C.leaks (0 ms)
[EXIT] 23 C
TEXT

diff - "$rows" <<TEXT
passed	s.A.prints_without_a_line_feed	
skipped	s.A.is_skipped	no such kernel
failed	s.A.fails	see above
failed	s.B.crashes	the test program ended with 134 in the middle of it
passed	s.C.leaks	
failed	s.C	the test program ended with 23 although no test failed
TEXT
