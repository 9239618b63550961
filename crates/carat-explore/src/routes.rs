//! Maps addresses to answers. No address names a file.

use carat::Error;

use crate::explorer::{Explorer, USUAL_EDGES, Which};
use crate::http::{Request, Response};
use crate::page::LivePage;

/// Answers a request.
pub fn answer(explorer: &mut Explorer<'_>, page: &LivePage, request: &Request) -> Response {
    let answered = match request.path.as_str() {
        "/" => Ok(page.response()),
        "/api/info" => Ok(Response::json(&explorer.info())),
        "/api/search" => match request.value("q") {
            Some(query) => Ok(Response::json(&explorer.search(query))),
            None => Err(missing("q")),
        },
        "/api/node" => node(explorer, request),
        "/api/without" => without(explorer, request),
        _ => Err(Response::refusal(404, "there is nothing here")),
    };
    answered.unwrap_or_else(|refusal| refusal)
}

fn node(explorer: &mut Explorer<'_>, request: &Request) -> Result<Response, Response> {
    let id = required(request, "id")?;
    let most = number(request, "limit")?.unwrap_or(USUAL_EDGES);
    let which = Which { layer: number(request, "layer")?, head: number(request, "head")? };
    explorer.node(id, most, which).map(|view| Response::json(&view)).map_err(failed)
}

fn without(explorer: &mut Explorer<'_>, request: &Request) -> Result<Response, Response> {
    let (source, node) = (required(request, "src")?, required(request, "dst")?);
    explorer.without(source, node).map(|view| Response::json(&view)).map_err(failed)
}

fn required(request: &Request, name: &str) -> Result<u32, Response> {
    number(request, name)?.ok_or_else(|| missing(name))
}

fn number<T: std::str::FromStr>(request: &Request, name: &str) -> Result<Option<T>, Response> {
    let parsed = request.value(name).map(str::parse).transpose();
    parsed.map_err(|_| Response::refusal(400, &format!("'{name}' must be a whole number")))
}

fn missing(name: &str) -> Response {
    Response::refusal(400, &format!("'{name}' is missing"))
}

/// The answer to an error: not found, or the work failed.
fn failed(error: Error) -> Response {
    Response::refusal(if error.is_input_error() { 404 } else { 500 }, &error.to_string())
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
