#!/bin/sh
# Stands in for the image postgres, where no registry can be reached. Knows what compose.yaml uses of that image.
set -e
if [ $# -gt 0 ]; then exec "$@"; fi
data=/var/lib/postgresql/data
run() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
chown postgres:postgres "$data"
if [ ! -e "$data/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password && chmod 644 /tmp/password
  run initdb -D "$data" -U "$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 --encoding=UTF8 --locale=C
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
  echo "create database $POSTGRES_DB" | run postgres --single -D "$data" postgres
fi
exec setpriv --reuid=postgres --regid=postgres --clear-groups postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp
