#!/bin/sh
# Starts Valkey with users.acl, in which HASH stands for that of the password, and with the arguments.
set -eu
hash=$(tr -d '\r\n' < /run/secrets/valkey | sha256sum | cut -d ' ' -f 1)
umask 077
sed "s/#HASH/#$hash/" /etc/valkey/users.acl > /tmp/users.acl
exec valkey-server --aclfile /tmp/users.acl --save '' --appendonly no --maxmemory 128mb --maxmemory-policy noeviction --dir /tmp "$@"
