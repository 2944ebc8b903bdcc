#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the network's status and each change of it; `follow.sh COMMAND …` also runs a command as soon as there is a network. With a shell,
# sed and the program reach, which needs no service for it.
set -eu

# The value of a member of a JSON object, where that is a word; nothing for null. Quotation marks within values are escaped in JSON, so
# that none of them is taken for a member.
member() { sed -n 's/.*"'"$1"'":"\([^"\\]*\)".*/\1/p'; }

# 'reach status' ends with 1 where there is no network.
now=$(reach status --json) || [ $? = 1 ]
echo "at first $(echo "$now" | member status)"

# 'reach wait' ends with 0 when there is one, and with 2 when the time is over.
if [ $# -gt 0 ] && reach wait --quiet --timeout 60; then "$@"; fi

# The present status and then a line for each change, without polling.
reach watch --json --status-only | while read -r change; do
    interface=$(echo "$change" | member interface)
    echo "$(echo "$change" | member status) ${interface:--}"
done
