/** An editor that speaks ACP v1. */
import { methods } from '@agentclientprotocol/sdk';
import type { AgentContext, ClientCapabilities, SessionUpdate } from '@agentclientprotocol/sdk';
import { untilAborted } from './editor.ts';
import type { Editor } from './editor.ts';
import { chunk } from './updates/to-updates.ts';

const { session, elicitation } = methods.client;

export function createEditorV1(
  client: AgentContext,
  capabilities: ClientCapabilities,
  closed: AbortSignal,
): Editor {
  const { form, url } = capabilities.elicitation ?? {};
  const showsNotices = capabilities.session?.notices != null;
  // What is said to somebody who has left is lost, and no error.
  const update = (sessionId: string, said: SessionUpdate) =>
    client.notify(session.update, { sessionId, update: said }).catch(() => undefined);
  return {
    modes: { form: form != null, url: url != null },
    closed,
    update,
    elicit: (params, signal) => client.request(elicitation.create, params, untilAborted(signal)),
    requestPermission: (params, signal) =>
      client.request(session.requestPermission, params, untilAborted(signal)),
    complete: (elicitationId) =>
      client.notify(elicitation.complete, { elicitationId }).catch(() => undefined),
    notice: (sessionId, words) =>
      update(
        sessionId,
        showsNotices
          ? { sessionUpdate: 'notice', severity: 'info', title: words }
          : chunk('agent_thought_chunk', `${words}\n\n`, crypto.randomUUID()),
      ),
    tellState: async () => undefined,
  };
}
