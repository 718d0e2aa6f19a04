//! Asking one server, by a connection of its own: the crate's only sockets.

use std::time::Duration;

use redis::{
    Cmd, Connection, ConnectionAddr, ConnectionInfo, FromRedisValue, IntoConnectionInfo, ProtocolVersion,
    RedisConnectionInfo, ToRedisArgs,
};

/// A server that accepts but does not answer within this is treated as one that is not there.
const LIMIT: Duration = Duration::from_secs(2);

/// Sends one command to the server on a loopback port and returns its answer, or why there is none as text.
///
/// Each call has its own connection: nothing is left to notice when the server is killed, cut or stopped.
pub(crate) fn ask<T: FromRedisValue>(port: u16, command: impl ToRedisArgs) -> Result<T, String> {
    connect(port).and_then(|mut connection| Cmd::new().arg(command).query(&mut connection)).map_err(|error| {
        match (error.code(), error.detail()) {
            // The server's own words.
            (Some(code), Some(detail)) => format!("{code} {detail}"),
            _ => error.to_string(),
        }
    })
}

/// Says whether the server on a port is the process `pid` and serves, or what is missing. A port may have been lost to
/// a server of somebody else, who answers as well.
pub(crate) fn serves(port: u16, pid: u32) -> Result<(), String> {
    ask::<String>(port, &["PING"]).map_err(|error| format!("it does not answer PING: {error}"))?;
    let info: String = ask(port, &["INFO", "server"])?;
    let own = format!("process_id:{pid}");
    if info.lines().any(|line| line == own) {
        Ok(())
    } else {
        Err("another server answers at its port".into())
    }
}

fn connect(port: u16) -> redis::RedisResult<Connection> {
    let client = redis::Client::open(info(port)?)?;
    let connection = client.get_connection_with_timeout(LIMIT)?;
    connection.set_read_timeout(Some(LIMIT))?;
    connection.set_write_timeout(Some(LIMIT))?;
    Ok(connection)
}

fn info(port: u16) -> redis::RedisResult<ConnectionInfo> {
    let address = ConnectionAddr::Tcp("127.0.0.1".into(), port);
    // No greeting: a server that still loads refuses it.
    let plain = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP2).set_skip_set_lib_name();
    Ok(address.into_connection_info()?.set_redis_settings(plain))
}
