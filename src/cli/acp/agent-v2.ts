/**
 * The program as an agent of ACP v2, for one connection. v2 is a draft: a prompt is answered when the service has the
 * message, and what becomes of it is told as the state of the session.
 */
import {
  agent,
  assertSupportedMcpServers,
  methods,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk/experimental/v2';
import type { AgentApp, InitializeResponse } from '@agentclientprotocol/sdk/experimental/v2';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { agentOption } from './agent-options.ts';
import { browserLogin, Connection } from './connection.ts';
import type { ConnectionParts } from './connection.ts';
import { createEditorV2, toOptionsV2 } from './editor-v2.ts';
import { answered } from './request-errors.ts';

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
      const isTold = params.replayFrom != null;
      const { configOptions } = await answered(connection().load(params, { isTold }));
      return { configOptions: toOptionsV2(configOptions) };
    })
    .onRequest(session.list, ({ params }) => answered(connection().list(params)))
    .onRequest(session.close, ({ params }) => connection().close(params.sessionId))
    .onRequest(session.setConfigOption, async ({ params: { sessionId, configId, value } }) => {
      if (configId !== agentOption || typeof value !== 'string')
        throw RequestError.invalidParams(
          undefined,
          `There is one option, ${agentOption}: the name of an agent.`,
        );
      const { configOptions } = await answered(connection().choose(sessionId, value));
      return { configOptions: toOptionsV2(configOptions) };
    })
    .onRequest(session.prompt, async ({ params: { sessionId, prompt }, client }) => {
      const accepted = Promise.withResolvers<string>();
      const ended = connection().prompt(
        // Blocks of v1 are blocks of v2; what is newer is refused where prompts are read.
        { sessionId, prompt: prompt as ContentBlock[] },
        { signal: new AbortController().signal, accepted: accepted.resolve },
      );
      // Refused, or over before it had begun.
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
