# SPDX-License-Identifier: Apache-2.0
# Reads what a GoogleTest program prints; shows only what a person must read, and appends one row a test to `results`:
# verdict, name, reason. A test that never came to its end (a crash, a time-out) has failed.
#
# usage: awk -v suite=unit -v results=FILE -f gtest.awk

function reason_of(text) { # what GTEST_SKIP() << "…" said, on one line
  sub(/^[^\n]*: Skipped\n/, "", text)
  gsub(/[\n\t ]+/, " ", text)
  gsub(/^ | $/, "", text)
  return text == "" ? "no reason given" : text
}

function record(verdict, reason) {
  print verdict "\t" suite "." name "\t" reason >> results
  count[verdict]++
  name = ""
}

/^\[ RUN      \] / { name = $4; text = ""; next }
name == "" { next }

# A test may have printed without a line feed: the verdict need not begin its line.
index($0, "[       OK ] " name) { record("passed", ""); next }
index($0, "[  SKIPPED ] " name) { record("skipped", reason_of(text)); next }
index($0, "[  FAILED  ] " name) {
  printf "--- %s.%s failed\n%s", suite, name, text
  record("failed", "see above")
  next
}
{ text = text $0 "\n" }

END {
  if (name != "") {
    printf "--- %s.%s did not end\n%s", suite, name, text
    record("failed", "the test program ended in the middle of it")
  }
  printf "%s: %d passed, %d failed, %d skipped\n", suite, count["passed"], count["failed"], count["skipped"]
}
