//! A small web server for one person on one machine: loopback only, reading only, one request per connection.
//!
//! `request` reads and limits what a client sends, `guard` refuses requests that other web sites made a browser send,
//! `response` is what goes back, `server` has the connections.

mod guard;
mod request;
mod response;
mod server;

pub use request::Request;
pub use response::Response;
pub use server::Server;
