# As the official image: makes the cluster and its database if the volume is empty, then runs it.
set -eu
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
chown postgres "$PGDATA"
chmod 700 "$PGDATA"
as() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" >/tmp/password
  chown postgres /tmp/password
  as initdb --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile /tmp/password --auth-local trust --auth-host scram-sha-256
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_DB" | as postgres --single -D "$PGDATA" postgres
fi
exec setpriv --reuid postgres --regid postgres --clear-groups postgres -D "$PGDATA" -c 'listen_addresses=*'
