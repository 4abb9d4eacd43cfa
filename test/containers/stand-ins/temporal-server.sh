# As the official image: the configuration that is built in, filled from the environment.
set -eu
# The other services of the server reach it here.
TEMPORAL_BROADCAST_ADDRESS=$(hostname -i)
export TEMPORAL_BROADCAST_ADDRESS
exec temporal-server start
