//! A job queue on Valkey Cluster whose keys are co-located by law
