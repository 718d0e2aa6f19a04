//! The command table against real servers, against a zoo of commands, and against what people got wrong.

#[path = "../../examples/make_command_table/answer.rs"]
#[expect(dead_code, reason = "the table's maker reads more of the answer")]
mod answer;
mod cases;
mod server;
mod zoo;
