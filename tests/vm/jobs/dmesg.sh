# SPDX-License-Identifier: Apache-2.0
# Last of all: what the kernel said about everything before.
dmesg >dmesg
