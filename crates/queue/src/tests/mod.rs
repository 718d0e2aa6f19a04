//! Tests of the transitions on raw keys, from inside, since they need the private store.
//!
//! * [`lint`]: the scripts' form, without a server.
//! * [`transitions`]: per script a table of state before, call, answer, messages, state after.
//! * [`cases`]: what people met in the field, a test a case.
//! * [`walk`]: random calls, compared with a [`model`] in Rust after each, under [`laws`] that hold whatever is called.

mod call;
mod cases;
mod half_moved;
mod laws;
mod lint;
mod model;
mod stage;
mod state;
mod transitions;
mod walk;
