/**
 * The program as an agent of ACP v2, for one connection. v2 is a draft: the response to a prompt only says that the service has
 * the message; the rest follows as the state of the session.
 */
import type {
  ContentBlock,
  RequestPermissionRequest,
  SessionConfigOption,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import {
  agent,
  assertSupportedMcpServers,
  methods,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk/experimental/v2';
import type {
  AgentApp,
  AgentContext,
  ClientCapabilities,
  CreateElicitationRequest,
  InitializeResponse,
  RequestPermissionRequest as RequestPermissionRequestV2,
  SessionConfigOption as SessionConfigOptionV2,
  SessionUpdate as SessionUpdateV2,
} from '@agentclientprotocol/sdk/experimental/v2';
import { browserLogin, Connection } from './connection.ts';
import type { ConnectionParts } from './connection.ts';
import { untilAborted } from './editor.ts';
import type { Editor, SessionState } from './editor.ts';
import { answered } from './sessions.ts';

const { initialize, auth, session } = methods.agent;

export function createAgentV2(parts: ConnectionParts): AgentApp {
  const closed = new AbortController();
  let made: Connection | undefined;
  // The SDK refuses every request before `initialize`.
  const connection = () => made as Connection;
  return agent({ name: 'interlude' })
    .onConnect(({ signal }) =>
      signal.addEventListener('abort', () => {
        closed.abort();
        made?.leave();
      }),
    )
    .onRequest(initialize, async ({ params: { capabilities = {} }, client }) => {
      made?.leave();
      made = new Connection(parts, createEditorV2(client, capabilities, closed.signal));
      return greeting(parts, await made.takesImages());
    })
    .onRequest(auth.login, ({ params }) => answered(connection().login(params.methodId)))
    .onRequest(auth.logout, () => answered(connection().logout()))
    .onRequest(session.new, async ({ params }) => {
      assertSupportedMcpServers(params.mcpServers, null);
      const { sessionId, configOptions } = await answered(connection().create(params.cwd));
      return { sessionId, configOptions: toOptionsV2(configOptions) };
    })
    .onRequest(session.resume, async ({ params }) => {
      assertSupportedMcpServers(params.mcpServers, null);
      const isReplayed = params.replayFrom != null;
      const { configOptions } = await answered(connection().load(params, isReplayed));
      return { configOptions: toOptionsV2(configOptions) };
    })
    .onRequest(session.list, ({ params }) => answered(connection().list(params)))
    .onRequest(session.close, ({ params }) => connection().close(params.sessionId))
    .onRequest(session.setConfigOption, async ({ params: { sessionId, configId, value } }) => {
      const { configOptions } = await answered(connection().setOption(sessionId, configId, value));
      return { configOptions: toOptionsV2(configOptions) };
    })
    .onRequest(session.prompt, async ({ params: { sessionId, prompt }, client }) => {
      const accepted = Promise.withResolvers<string>();
      const ended = connection().prompt(
        // Content blocks of v1 are valid in v2. Newer ones are refused where prompts are read.
        { sessionId, prompt: prompt as ContentBlock[] },
        { signal: new AbortController().signal, accepted: accepted.resolve },
      );
      // Refused, or over before it began.
      ended.then(() => accepted.reject(RequestError.requestCancelled()), accepted.reject);
      const messageId = await answered(accepted.promise);
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: 'user_message', messageId, content: prompt },
      });
      return { messageId };
    })
    .onNotification(session.cancel, ({ params }) => connection().cancel(params.sessionId));
}

function greeting({ identity, version }: ConnectionParts, isImage: boolean): InitializeResponse {
  const { id: methodId, name, description } = browserLogin;
  return {
    protocolVersion: PROTOCOL_VERSION,
    info: { name: 'interlude', title: 'Interlude', version },
    capabilities: {
      session: { prompt: { embeddedContext: {}, ...(isImage && { image: {} }) } },
      ...(identity.isLogin && { auth: {} }),
    },
    authMethods: identity.isLogin ? [{ type: 'agent', methodId, name, description }] : [],
  };
}

const { session: clientSession, elicitation } = methods.client;
const internalError = -32603;

function createEditorV2(client: AgentContext, capabilities: ClientCapabilities, closed: AbortSignal): Editor {
  const { form, url } = capabilities.elicitation ?? {};
  // A notification to a closed connection is lost, and no error.
  const update = (sessionId: string, said: SessionUpdateV2) =>
    client.notify(clientSession.update, { sessionId, update: said }).catch(() => undefined);
  return {
    modes: { form: form != null, url: url != null },
    closed,
    update: (sessionId, said) => update(sessionId, toUpdateV2(said)),
    elicit: (params, signal) =>
      client.request(elicitation.create, params as CreateElicitationRequest, untilAborted(signal)),
    requestPermission: (params, signal) =>
      client.request(clientSession.requestPermission, toPermissionV2(params), untilAborted(signal)),
    complete: (elicitationId) =>
      client.notify(elicitation.complete, { elicitationId }).catch(() => undefined),
    notice: (sessionId, title) => update(sessionId, { sessionUpdate: 'notice', severity: 'info', title }),
    reportState: (sessionId, state) => update(sessionId, toStateUpdate(state)),
  };
}

/** v2 has one update for new and changed calls. The other updates that we send are as in v1. */
function toUpdateV2(update: SessionUpdate): SessionUpdateV2 {
  switch (update.sessionUpdate) {
    case 'tool_call':
      return { ...update, sessionUpdate: 'tool_call_update' } as SessionUpdateV2;
    case 'config_option_update':
      return { ...update, configOptions: toOptionsV2(update.configOptions) };
    default:
      return update as SessionUpdateV2;
  }
}

function toOptionsV2(options: readonly SessionConfigOption[]): SessionConfigOptionV2[] {
  return options.map(({ id, ...option }) => ({ ...option, configId: id }) as SessionConfigOptionV2);
}

function toPermissionV2({
  sessionId,
  toolCall,
  options,
}: RequestPermissionRequest): RequestPermissionRequestV2 {
  const subject = { type: 'tool_call', toolCall } as RequestPermissionRequestV2['subject'];
  return {
    sessionId,
    title: toolCall.title ?? 'Approve this?',
    subject,
    options,
  } as RequestPermissionRequestV2;
}

function toStateUpdate(state: SessionState): SessionUpdateV2 {
  const sessionUpdate = 'state_update';
  switch (state.kind) {
    case 'running':
      return { sessionUpdate, state: 'running' };
    case 'requires-action':
      return { sessionUpdate, state: 'requires_action' };
    case 'idle':
      return { sessionUpdate, state: 'idle', stopReason: state.stopReason } as SessionUpdateV2;
    case 'failed':
      return {
        sessionUpdate,
        state: 'idle',
        stopReason: 'error',
        error: { code: internalError, message: state.message },
      };
    default:
      return state satisfies never;
  }
}
