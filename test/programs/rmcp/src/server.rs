//! A server whose tools ask. What it does, it writes to standard error: `did: book Lisbon for 3`.

use std::sync::Arc;

use rmcp::handler::server::tool::{InputResponses, RequestState};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationSchema, InputRequest, InputRequests,
    InputRequiredResult, ServerCapabilities, ServerConfig,
};
use rmcp::service::{ElicitationError, RequestContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt, elicit_safe, tool, tool_handler, tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Ended;

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Stay {
    nights: u32,
}
elicit_safe!(Stay);

#[derive(Clone)]
struct Booking;

#[tool_router]
impl Booking {
    #[tool(description = "Asks by a push")]
    async fn book(
        &self,
        Parameters(Place { city }): Parameters<Place>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        eprintln!("did: begin {city}");
        let answer = context.peer.elicit::<Stay>(question(&city)).await;
        match answer {
            Ok(Some(stay)) => Ok(booked(&city, &stay)),
            Ok(None) | Err(ElicitationError::NoContent) => Ok(text("not booked: no content")),
            Err(ElicitationError::UserDeclined) => Ok(text("not booked: decline")),
            Err(ElicitationError::UserCancelled) => Ok(text("not booked: cancel")),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }

    #[tool(description = "Asks in rounds")]
    async fn rounds(
        &self,
        Parameters(Place { city }): Parameters<Place>,
        RequestState(state): RequestState,
        InputResponses(responses): InputResponses,
    ) -> Result<CallToolResponse, ErrorData> {
        let asked = format!("asked about {city}");
        let Some(response) = responses.and_then(|mut responses| responses.remove("nights")) else {
            eprintln!("did: begin {city}");
            let request = InputRequest::Elicitation(ElicitRequest::new(form(&city)?));
            let requests = InputRequests::from([("nights".to_string(), request)]);
            return Ok(InputRequiredResult::new(Some(requests), Some(asked)).into());
        };
        if state.as_deref() != Some(&asked) {
            return Err(ErrorData::invalid_params(
                "the state is not what it was",
                None,
            ));
        }
        let answer: ElicitResult = parsed(response)?;
        Ok(match answer.action {
            ElicitationAction::Accept => {
                booked(&city, &parsed(answer.content.unwrap_or_default())?)
            }
            ElicitationAction::Decline => text("not booked: decline"),
            ElicitationAction::Cancel => text("not booked: cancel"),
            _ => text("not booked"),
        }
        .into())
    }
}

#[tool_handler]
impl ServerHandler for Booking {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

fn question(city: &str) -> String {
    format!("How many nights in {city}?")
}

fn form(city: &str) -> Result<ElicitRequestParams, ErrorData> {
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question(city),
        requested_schema: ElicitationSchema::from_type::<Stay>()
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?,
    })
}

fn parsed<T: for<'de> Deserialize<'de>>(value: serde_json::Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

fn text(words: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(words)])
}

fn booked(city: &str, Stay { nights }: &Stay) -> CallToolResult {
    eprintln!("did: book {city} for {nights}");
    text(format!("booked {city} for {nights}"))
}

pub async fn serve_stdio() -> Ended {
    Booking
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}

pub async fn serve_http(mode: &str, port: &str) -> Ended {
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(mode == "sessions");
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Booking), sessions, config);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    eprintln!("listening on {}", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
