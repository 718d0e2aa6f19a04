//! A connector that gets a command, a transaction or a script to the right node of a Valkey Cluster, whatever the cluster does meanwhile
