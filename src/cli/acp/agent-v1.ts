/** The program as an agent of ACP v1, for one connection. */
import { agent, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type { AgentApp, InitializeResponse, PromptResponse } from '@agentclientprotocol/sdk';
import { agentOption } from './agent-options.ts';
import { browserLogin, Connection } from './connection.ts';
import type { ConnectionParts } from './connection.ts';
import { createEditorV1 } from './editor-v1.ts';
import { answered, internalError } from './request-errors.ts';
import type { TurnEnd } from './updates/stop-reason.ts';

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
    .onRequest(session.load, ({ params }) => answered(connection().load(params, { isTold: true })))
    .onRequest(session.resume, ({ params }) => answered(connection().load(params, { isTold: false })))
    .onRequest(session.list, ({ params }) => answered(connection().list(params)))
    .onRequest(session.close, ({ params }) => connection().close(params.sessionId))
    .onRequest(session.setMode, async ({ params }) => {
      await answered(connection().choose(params.sessionId, params.modeId));
      return {};
    })
    .onRequest(session.setConfigOption, async ({ params: { sessionId, configId, value } }) => {
      if (configId !== agentOption || typeof value !== 'string')
        throw RequestError.invalidParams(
          undefined,
          `There is one option, ${agentOption}: the name of an agent.`,
        );
      const { configOptions } = await answered(connection().choose(sessionId, value));
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
      // What the user says next is the answer, or asks again.
      return { stopReason: 'end_turn' };
    case 'failed':
      throw internalError(end.message);
    default:
      return end satisfies never;
  }
}
