/**
 * Operations: what a turn is doing, one line each, derived from the log for clients that show or record it. Ids, names and
 * statuses only: no text of users and models, no tool input or output. Pure.
 */
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationEvent, Mode, Status, Trigger } from '@interlude-ai/core/elicitation/elicitation.ts';
import { inWords } from '@interlude-ai/core/elicitation/wording.ts';
import type { LogEntry } from './event.ts';

interface Described<Type extends string, Details> {
  type: Type;
  /** For people. */
  label: string;
  /** `timestamp` in ISO 8601. */
  details: { timestamp: string; agent: string } & Details;
}

export type Operation =
  | Described<'model_step', { step: number }>
  | Described<'tool_call', { toolCallId: string; toolName: string }>
  /** Sent again, under the same id, as progress grows. */
  | Described<'tool_progress', { toolCallId: string; toolName: string; progress: number; total?: number }>
  /** Also sent for delegations. */
  | Described<'tool_result', { toolCallId: string; toolName: string; status: 'done' | 'failed' }>
  | Described<'delegation', { toolCallId: string; delegate: string }>
  /** While no worker has started the turn, and once more (`over`) when one has. Not stored in the log. */
  | Described<'waiting_for_worker', { status: 'waiting' | 'over' }>
  | Described<
      'elicitation',
      { elicitationId: string; mode: Mode; trigger: Trigger; server?: string; status: Status }
    >;

/** Stable, so that clients replace an operation that is sent again. */
export function operationId({ seq, turnId, event }: LogEntry): string {
  switch (event.type) {
    case 'tool-progress':
      return `op-progress-${event.toolCallId}`;
    case 'start-step':
      // A repeated model call starts the step again.
      return `op-step-${[turnId, event.parentToolCallId, event.step].filter((name) => name !== undefined).join('-')}`;
    default:
      return `op-${seq}`;
  }
}

/** Null for an event that is no operation. `rootAgent`: the conversation's agent, for events without a path. */
export function operationOf({ at, event }: LogEntry, rootAgent: string): Operation | null {
  const common = { timestamp: new Date(at).toISOString(), agent: event.path?.at(-1) ?? rootAgent };
  switch (event.type) {
    case 'start-step': {
      const { step } = event;
      return { type: 'model_step', label: `Step ${step + 1}`, details: { ...common, step } };
    }
    case 'tool-input-available': {
      const { toolCallId, toolName, agent: delegate } = event;
      if (delegate === undefined)
        return {
          type: 'tool_call',
          label: `Calling ${toolInWords(toolName)}`,
          details: { ...common, toolCallId, toolName },
        };
      return {
        type: 'delegation',
        label: `Asking ${delegate}`,
        details: { ...common, toolCallId, delegate },
      };
    }
    case 'tool-progress': {
      const { toolCallId, toolName, progress, total } = event;
      const details = { ...common, toolCallId, toolName, progress, ...(total !== undefined && { total }) };
      const label = `${toolInWords(toolName)}: ${progressInWords(event)}`;
      return { type: 'tool_progress', label, details };
    }
    case 'tool-output-available':
    case 'tool-output-error': {
      const { toolCallId, toolName } = event;
      const status = event.type === 'tool-output-available' ? 'done' : 'failed';
      const details = { ...common, toolCallId, toolName, status } as const;
      return { type: 'tool_result', label: `${toolInWords(toolName)} ${status}`, details };
    }
    case 'elicitation-request': {
      const { elicitationId, mode, status, context } = event;
      const { trigger, server } = context;
      const by = server === undefined ? {} : { server };
      const details = { ...common, elicitationId, mode, trigger, ...by, status };
      return { type: 'elicitation', label: questionInWords(event), details };
    }
    case 'turn-started':
    case 'text-start':
    case 'text-delta':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
    case 'tool-auth-required':
    case 'elicitation-consented':
    case 'finish-step':
    case 'reset-step':
    case 'error':
    case 'turn-ended':
      return null;
    default:
      return event satisfies never;
  }
}

export function waitingForWorker(
  agent: string,
  status: 'waiting' | 'over',
  at: number,
): { id: string; operation: Operation } {
  const label = status === 'waiting' ? 'Waiting for a worker' : 'A worker has taken the turn';
  const details = { timestamp: new Date(at).toISOString(), agent, status };
  return { id: 'op-worker', operation: { type: 'waiting_for_worker', label, details } };
}

/** `tracker__list_issues` → `tracker · list issues`; a delegated agent's tool (`agent__name`) → its name. */
export function toolInWords(toolName: string): string {
  const at = toolName.indexOf('__', 1);
  const [server, tool] = [toolName.slice(0, at), toolName.slice(at + 2)];
  if (at !== -1 && tool !== '') return server === 'agent' ? tool : `${server} · ${inWords(tool) || tool}`;
  const [, connected] = /^connect_(.+)$/.exec(toolName) ?? [];
  return connected === undefined ? inWords(toolName) || toolName : `${connected} · connect`;
}

/** `40 %`, or the server's own number if there is no total. */
function progressInWords({ progress, total }: { progress: number; total?: number }): string {
  if (total === undefined) return String(Math.round(progress * 100) / 100);
  return `${percentOf(progress, total)} %`;
}

export function percentOf(progress: number, total: number): number {
  return Math.min(100, Math.max(0, Math.floor((100 * progress) / total)));
}

function questionInWords({ mode, status, context }: ElicitationEvent): string {
  const { trigger } = context;
  const asker = askerTitle(context) ?? 'the agent';
  const isAccount = trigger === 'credential_required' || trigger === 'a2a_auth_required';
  const page = isAccount ? `connect ${asker}` : `open a page of ${asker}`;
  const tool = inWords(context.toolName ?? '');
  const form = isApproval(context) ? `approve “${tool}” of ${asker}` : `answer ${asker}`;
  const action = mode === 'url' ? page : form;
  switch (status) {
    case 'pending':
      return `Waiting for the user: ${action}`;
    case 'accept':
      if (isApproval(context)) return `The user approved “${tool}” of ${asker}`;
      if (mode === 'form') return `The user answered ${asker}`;
      return isAccount ? `${asker} is connected` : `The user agreed: ${action}`;
    case 'decline':
      return `The user declined: ${action}`;
    case 'cancel':
      return `Closed without an answer: ${action}`;
    case 'expired':
      return `Nobody answered in time: ${action}`;
    default:
      return status satisfies never;
  }
}
