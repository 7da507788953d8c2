// Package engine keeps what the replicas of a cluster share in Valkey or Redis, the engine: which
// replicas are alive, which of them owns what, and from what a session is made anew when its owner
// is dead. It is the only package that imports the client library.
//
// The terms: a replica is one start of the program. A unit is what has one owner at a time, such as
// a session. A replica's lease says that it is alive; it must be renewed with Beat.
//
// # Keys
//
// All keys begin with {toolman:NAME}: so that they are in one slot of a Valkey Cluster.
//
//	k          the cluster's key, sealed with the first secret; no TTL
//	r:REPLICA  a lease, sealed; TTL is the lease's
//	replicas   the set of the replicas that may have leases
//	up, grace  whether leases are being renewed, and whether that has begun anew; TTL is the lease's
//	w:REPLICA  how often the replica has written; ten minutes
//	o:NAME     the owner of a unit: the ID of a replica; TTL is the caller's
//	s:NAME     the record of a session, sealed; TTL is the caller's
//	t:NAME     VERSION:TEXT of a document, the text sealed; no TTL
//	m:NAME     the tokens of a bucket and when they were counted; until the bucket is full
//
// NAME is the first 26 base32 characters of an HMAC. Values are sealed with AES-256-GCM, with the
// full name of their key as associated data. All keys of these are derived from the cluster's key
// with HKDF, so other secrets change no names. Who reads the engine sees sizes and times. Who
// writes it can break sessions, but cannot make one.
//
// # Scripts
//
// What depends on what is there is one Lua script, and so happens at once: beat, claim, put, yield,
// release, forget, document, take, leave, and swap, which exchanges the sealed key. Only the
// engine's clock counts, and only in TTLs and in buckets. Only commands that Redis 6.2 and Valkey
// 7.2 share are used. A user of the engine needs these rights:
//
//	ACL SETUSER toolman on >PASSWORD resetkeys ~{toolman:NAME}:* resetchannels -@all
//	  +hello +ping +eval +evalsha +get +set +del +exists +pexpire +incr +sadd +srem +smembers +time
//
// and +config|get, if it is to be checked that the engine does not drop keys when memory is short;
// +cluster with a Valkey Cluster, +role with Sentinel, +select with a database other than 0.
//
// # What is lost when
//
// Nothing in the engine is the only copy. The owners write what is theirs again when they are told
// to, and all replicas have copies of the documents.
//
//   - An engine that forgets everything, or loses the last writes in a failover: replication is
//     ordered, and each script that writes increments w:REPLICA, so a loss is seen there. Beat
//     reports it.
//   - A replica that stops for longer than its lease: others may have become owners of its units.
//     Beat reports that, too.
//   - An engine that nobody reaches for longer than a lease: all leases are gone, although their
//     replicas live. Until one lease's time after the first Beat, no unit is taken from an owner
//     without a lease.
//   - An engine that forgets the cluster's key while the first replica of another start makes one:
//     the older key stays. Beat tells the other replicas to join again.
//
// # Connection
//
// Open does not connect. Each call connects if it must, ends with its context and after two seconds
// at the latest, and fails at once if nobody listens. Errors never have the password of the URL or
// a secret.
package engine
