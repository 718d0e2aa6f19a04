//! What a Valkey or Redis Cluster key is: hash tag, slot, trace, verdict, names, and the key file of an EchoMQ queue
