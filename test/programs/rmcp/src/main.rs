//! Both ends of MCP with the SDK for Rust, as its documentation shows them:
//! `rmcp-peer server <sessions|stateless> <port>`, `rmcp-peer server stdio`,
//! `rmcp-peer client <initialize|auto> <url> <token> <form,url>`.

mod client;
mod server;

type Ended = Result<(), Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Ended {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["server", "stdio"] => server::serve_stdio().await,
        ["server", mode, port] => server::serve_http(mode, port).await,
        ["client", lifecycle, url, token, shows] => client::run(lifecycle, url, token, shows).await,
        _ => Err("unknown arguments".into()),
    }
}
