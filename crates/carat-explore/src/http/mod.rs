//! A small web server for one user on one machine: loopback only, read-only, one request per connection.
//!
//! `request` parses and limits what a client sends, `guard` refuses requests that other web sites cause, `response` is
//! the answer, `server` handles the connections.

mod guard;
mod request;
mod response;
mod server;

pub use request::Request;
pub use response::Response;
pub use server::Server;
