#!/bin/sh
# The test server's jars as one executable, the way the SDK wants it: start.sh <port> [options].
cd "$(dirname "$0")" || exit 1
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp 'lib/*' io.temporal.testserver.TestServer "$@"
