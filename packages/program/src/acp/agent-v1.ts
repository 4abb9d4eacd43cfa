/** The program as an agent of ACP v1, for one connection. */
import { agent, methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import type {
  AgentApp,
  AgentContext,
  ClientCapabilities,
  InitializeResponse,
  PromptResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import { browserLogin, Connection } from './connection.ts';
import type { ConnectionParts } from './connection.ts';
import { untilAborted } from './editor.ts';
import type { Editor } from './editor.ts';
import { answered, internalError } from './sessions.ts';
import type { TurnEnd } from './turns.ts';
import { chunk } from './updates.ts';

const { initialize, authenticate, logout, session } = methods.agent;

export function createAgentV1(parts: ConnectionParts): AgentApp {
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
    .onRequest(initialize, async ({ params: { clientCapabilities = {} }, client }) => {
      made?.leave();
      made = new Connection(parts, createEditorV1(client, clientCapabilities, closed.signal));
      return greeting(parts, await made.takesImages());
    })
    .onRequest(authenticate, ({ params }) => answered(connection().login(params.methodId)))
    .onRequest(logout, () => answered(connection().logout()))
    .onRequest(session.new, ({ params }) => answered(connection().create(params.cwd)))
    .onRequest(session.load, ({ params }) => answered(connection().load(params, true)))
    .onRequest(session.resume, ({ params }) => answered(connection().load(params, false)))
    .onRequest(session.list, ({ params }) => answered(connection().list(params)))
    .onRequest(session.close, ({ params }) => connection().close(params.sessionId))
    .onRequest(session.setMode, async ({ params }) => {
      await answered(connection().choose(params.sessionId, params.modeId));
      return {};
    })
    .onRequest(session.setConfigOption, async ({ params: { sessionId, configId, value } }) => {
      const { configOptions } = await answered(connection().setOption(sessionId, configId, value));
      return { configOptions };
    })
    .onRequest(session.prompt, async ({ params, signal }) =>
      toResponse(await answered(connection().prompt(params, { signal }))),
    )
    .onNotification(session.cancel, ({ params }) => connection().cancel(params.sessionId));
}

function greeting({ identity, version }: ConnectionParts, image: boolean): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'interlude', title: 'Interlude', version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { embeddedContext: true, image, audio: false },
      mcpCapabilities: { http: false, sse: false },
      sessionCapabilities: { list: {}, resume: {}, close: {} },
      ...(identity.isLogin && { auth: { logout: {} } }),
    },
    authMethods: identity.isLogin ? [browserLogin] : [],
  };
}

function toResponse(end: TurnEnd): PromptResponse {
  switch (end.kind) {
    case 'stopped':
      return { stopReason: end.stopReason };
    case 'waiting':
      // The user's next message is the answer, or makes the agent ask again.
      return { stopReason: 'end_turn' };
    case 'failed':
      throw internalError(end.message);
    default:
      return end satisfies never;
  }
}

const { session: clientSession, elicitation } = methods.client;

function createEditorV1(client: AgentContext, capabilities: ClientCapabilities, closed: AbortSignal): Editor {
  const { form, url } = capabilities.elicitation ?? {};
  const showsNotices = capabilities.session?.notices != null;
  // A notification to a closed connection is lost, and no error.
  const update = (sessionId: string, said: SessionUpdate) =>
    client.notify(clientSession.update, { sessionId, update: said }).catch(() => undefined);
  return {
    modes: { form: form != null, url: url != null },
    closed,
    update,
    elicit: (params, signal) => client.request(elicitation.create, params, untilAborted(signal)),
    requestPermission: (params, signal) =>
      client.request(clientSession.requestPermission, params, untilAborted(signal)),
    complete: (elicitationId) =>
      client.notify(elicitation.complete, { elicitationId }).catch(() => undefined),
    notice: (sessionId, words) =>
      update(
        sessionId,
        showsNotices
          ? { sessionUpdate: 'notice', severity: 'info', title: words }
          : chunk('agent_thought_chunk', `${words}\n\n`, crypto.randomUUID()),
      ),
    reportState: async () => undefined,
  };
}
