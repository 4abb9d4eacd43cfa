#!/bin/sh
# Creates Temporal's databases and brings their schemas to this image's version. Harmless when that is done.
set -eu

migrate() {
  sql() {
    temporal-sql-tool --plugin postgres12 --endpoint postgres --port 5432 --user interlude --database "$database" "$@"
  }
  database=$1
  sql create
  sql setup-schema --version 0.0
  sql update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

migrate temporal temporal
migrate temporal_visibility visibility
