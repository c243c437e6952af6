# SPDX-License-Identifier: Apache-2.0
# Reads what GoogleTest programs print; shows only what a person must read, and appends one row a test to `results`:
# verdict, name, reason. A test that never came to its end (a crash, a time-out) has failed, and so has a program that
# complains after its last test, as sanitizers do. Each program's output ends with a line of ours: "[EXIT] CODE SUITE".
#
# usage: awk -v stage=unit -v results=FILE -f gtest.awk

function reason_of(text,  parts) { # what the first GTEST_SKIP() << "…" said, on one line
  split(text, parts, /[^\n]*: Skipped\n/)
  text = parts[2]
  gsub(/[\n\t ]+/, " ", text)
  gsub(/^ | $/, "", text)
  return text == "" ? "no reason given" : text
}

function record(verdict, reason) {
  print verdict "\t" stage "." name "\t" reason >> results
  count[verdict]++
  if (verdict == "failed") failed_here++
  name = ""
  text = ""
}

function fail(what, reason) {
  printf "--- %s.%s %s\n%s", stage, name, what, text
  record("failed", reason)
}

/^\[ RUN      \] / {
  if (name != "") fail("did not end", "the test program ended in the middle of it")
  name = $4
  text = ""
  next
}

# A test may have printed without a line feed: the verdict need not begin its line.
name != "" && index($0, "[       OK ] " name) { record("passed", ""); next }
name != "" && index($0, "[  SKIPPED ] " name) { record("skipped", reason_of(text)); next }
name != "" && index($0, "[  FAILED  ] " name) { fail("failed", "see above"); next }

/^\[EXIT\] / {
  if (name != "") {
    fail("did not end", "the test program ended with " $2 " in the middle of it")
  } else if ($2 != 0 && !failed_here) {
    name = $3
    fail("ended with " $2, "the test program ended with " $2 " although no test failed")
  }
  failed_here = 0
  text = ""
  next
}

{ text = text $0 "\n" }

END { printf "%s: %d passed, %d failed, %d skipped\n", stage, count["passed"], count["failed"], count["skipped"] }
