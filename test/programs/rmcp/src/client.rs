//! A client. Calls come in as lines, questions and results go out.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationCapability, FormElicitationCapability, Implementation, JsonObject, ProtocolVersion,
    UrlElicitationCapability,
};
use rmcp::service::RequestContext;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin, stdin};
use tokio::sync::Mutex;

use crate::Ended;

#[derive(Deserialize)]
struct Call {
    tool: String,
    arguments: JsonObject,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Unable { trouble: String },
    Given(ElicitResult),
}

struct User {
    shows: ElicitationCapability,
    lines: Arc<Mutex<Lines<BufReader<Stdin>>>>,
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.shows != ElicitationCapability::default() {
            capabilities.elicitation = Some(self.shows.clone());
        }
        ClientConfig::new(capabilities, Implementation::new("rmcp", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let question = match request {
            ElicitRequestParams::FormElicitationParams { message, .. } => {
                json!({ "mode": "form", "message": message })
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                json!({ "mode": "url", "message": message, "url": url })
            }
            _ => return Err(ErrorData::invalid_params("another mode", None)),
        };
        let mut lines = self.lines.lock().await;
        tell("asked", question);
        let line = lines.next_line().await.ok().flatten().unwrap_or_default();
        match serde_json::from_str(&line) {
            Ok(Answer::Given(answer)) => Ok(answer),
            Ok(Answer::Unable { trouble }) => Err(ErrorData::internal_error(trouble, None)),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }
}

fn tell(what: &str, value: Value) {
    println!("{}", json!({ what: value }));
}

pub async fn run(lifecycle: &str, url: &str, token: &str, shows: &str) -> Ended {
    let lifecycle = match lifecycle {
        "initialize" => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        },
    };
    let mut elicitation = ElicitationCapability::new();
    for mode in shows.split(',') {
        match mode {
            "form" => elicitation = elicitation.with_form(FormElicitationCapability::new()),
            "url" => elicitation = elicitation.with_url(UrlElicitationCapability::new()),
            _ => {}
        }
    }
    let lines = Arc::new(Mutex::new(BufReader::new(stdin()).lines()));
    let user = User {
        shows: elicitation,
        lines: lines.clone(),
    };
    let transport = StreamableHttpClientTransport::from_config(
        StreamableHttpClientTransportConfig::with_uri(url).auth_header(token),
    );
    let client = user.serve_with_lifecycle(transport, lifecycle).await?;
    tell(
        "ready",
        json!(client.peer_info().map(|info| info.protocol_version.clone())),
    );
    loop {
        let line = lines.lock().await.next_line().await?;
        let Some(line) = line else { return Ok(()) };
        let Call { tool, arguments } = serde_json::from_str(&line)?;
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        match client.call_tool(params).await {
            Ok(result) => tell("result", serde_json::to_value(result)?),
            Err(error) => tell("trouble", json!(error.to_string())),
        }
    }
}
