//! Break servers on purpose, for tests
