//! Scenarios and exact-delivery audits for EchoMQ: what demo, bench and chaos are made of
