//! Find, start, join and end Valkey servers on this machine
