/** An editor that speaks ACP v2, told in shapes of v1: what has another form there is rewritten here. */
import type { RequestPermissionRequest, SessionConfigOption, SessionUpdate } from '@agentclientprotocol/sdk';
import { methods } from '@agentclientprotocol/sdk/experimental/v2';
import type {
  AgentContext,
  ClientCapabilities,
  CreateElicitationRequest,
  RequestPermissionRequest as RequestPermissionRequestV2,
  SessionConfigOption as SessionConfigOptionV2,
  SessionUpdate as SessionUpdateV2,
} from '@agentclientprotocol/sdk/experimental/v2';
import { untilAborted } from './editor.ts';
import type { Editor, SessionState } from './editor.ts';

const { session, elicitation } = methods.client;
const internalError = -32603;

export function createEditorV2(
  client: AgentContext,
  capabilities: ClientCapabilities,
  closed: AbortSignal,
): Editor {
  const { form, url } = capabilities.elicitation ?? {};
  // What is said to somebody who has left is lost, and no error.
  const update = (sessionId: string, said: SessionUpdateV2) =>
    client.notify(session.update, { sessionId, update: said }).catch(() => undefined);
  return {
    modes: { form: form != null, url: url != null },
    closed,
    update: (sessionId, said) => update(sessionId, toUpdateV2(said)),
    elicit: (params, signal) =>
      client.request(elicitation.create, params as CreateElicitationRequest, untilAborted(signal)),
    requestPermission: (params, signal) =>
      client.request(session.requestPermission, toPermissionV2(params), untilAborted(signal)),
    complete: (elicitationId) =>
      client.notify(elicitation.complete, { elicitationId }).catch(() => undefined),
    notice: (sessionId, title) => update(sessionId, { sessionUpdate: 'notice', severity: 'info', title }),
    tellState: (sessionId, state) => update(sessionId, toStateUpdate(state)),
  };
}

/** A call is told and changed in one form there; all else that we tell has the form of v1. */
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

export function toOptionsV2(options: readonly SessionConfigOption[]): SessionConfigOptionV2[] {
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
