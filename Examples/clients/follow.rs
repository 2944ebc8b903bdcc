// SPDX-License-Identifier: Apache-2.0
//! Prints the network's status and each change of it, as the service tells by varlink; the standard library alone.
//!
//!     rustc -O follow.rs && ./follow

use std::io::{self, BufRead, BufReader, Error, ErrorKind, Result, Write};
use std::os::unix::net::UnixStream;
use std::{env, process, thread, time::Duration};

/// The value of a member whose value is a word, such as `status`; `None` for null. A program with serde_json reads the object instead.
fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("\"{name}\":\"");
    let value = &json[json.find(&start)? + start.len()..];
    value.split('"').next()
}

/// Calls `changed` with the present status and each change, as JSON, as long as the service sends any.
fn follow(path: &str, mut changed: impl FnMut(&str)) -> Result<()> {
    let mut service = UnixStream::connect(path)?;
    let call = r#"{"method":"io.reach.Reachability.Monitor","more":true,"parameters":{"statusOnly":true}}"#;
    service.write_all(call.as_bytes())?;
    service.write_all(b"\0")?;
    let mut messages = BufReader::new(service);
    loop {
        let mut message = Vec::new();
        if messages.read_until(0, &mut message)? == 0 {
            return Err(Error::new(ErrorKind::UnexpectedEof, "the service has closed the connection"));
        }
        message.pop();
        let json = String::from_utf8_lossy(&message);
        match member(&json, "error") {
            Some(error) => return Err(Error::new(ErrorKind::Other, error.to_string())),
            None => changed(&json),
        }
    }
}

fn main() {
    let path = env::var("REACH_SOCKET").unwrap_or_else(|_| "/run/reach/reach.varlink".into());
    // The first answer is the present status; a service that is started anew says it again.
    loop {
        let print = |json: &str| {
            let (status, interface) = (member(json, "status").unwrap_or("?"), member(json, "interface").unwrap_or("-"));
            if writeln!(io::stdout(), "{status} {interface}").is_err() {
                process::exit(1);
            }
        };
        if let Err(error) = follow(&path, print) {
            eprintln!("no service: {path}: {error}");
        }
        thread::sleep(Duration::from_secs(1));
    }
}
