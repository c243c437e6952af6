# SPDX-License-Identifier: Apache-2.0
# The same binary as on the host.
hotset_kernel_tests --gtest_color=no --gtest_output=json:tests.json "--gtest_filter=${HOTSET_GTEST_FILTER:-*}"
