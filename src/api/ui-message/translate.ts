/**
 * Turn log → AI SDK UI message stream. Pure.
 *
 * Only chunk types that version 5 of the SDK already knew, plus `data-*`: any other type ends the stream of
 * every released client with a validation error. Tools are `dynamic`, so that clients accept names they never
 * heard of. `reset-step`, which version 7 brought, is for readers who say that they know it.
 * https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
 */
import type { UIMessageChunk } from 'ai';
import { isApproval } from '../../elicitation/approval.ts';
import { canPresent } from '../../elicitation/capabilities.ts';
import type { ElicitationEvent } from '../../elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../../turn/event.ts';
import { operationId, operationOf } from '../../turn/operations.ts';
import type { Reader } from '../http/request-headers.ts';
import { createNotices } from './notices.ts';
import { createStepData, withResets } from './resets.ts';
import type { Speech } from './resets.ts';

type ToChunks = (entry: LogEntry) => UIMessageChunk[];

/**
 * One translator per reader and turn, to be given every entry from the first: it remembers what it has seen.
 * A question that the reader cannot present is left out, or replaced by a notice where there is one. What delegated
 * agents say and do among themselves is left out, too: it is their caller's tool call that is shown.
 */
export function createTranslator({ capabilities, operations, resets, toolApprovals }: Reader): ToChunks {
  const toNotices = createNotices();
  const toSpeech = resets ? withResets(createSpeech()) : createSpeech();
  const withData = createStepData();
  let agent = '';

  function toOperations(entry: LogEntry): UIMessageChunk[] {
    if (entry.event.type === 'turn-started') ({ agent } = entry.event);
    const data = operations ? operationOf(entry, agent) : null;
    return data ? [{ type: 'data-operation', id: operationId(entry), data }] : [];
  }

  function toChunks(event: TurnEvent): UIMessageChunk[] {
    const notices = toNotices(event);
    if (event.type === 'elicitation-request' && canPresent(event.mode, capabilities))
      return [
        { type: 'data-elicitation-request', id: event.elicitationId, data: event },
        ...(toolApprovals ? approvalRequest(event) : []),
      ];
    // In place of a question for whoever cannot be asked; that nobody was, everybody is told.
    if (event.type === 'tool-auth-required' || (!capabilities.url && notices.length > 0)) return notices;
    return event.path === undefined ? toSpeech(event) : [];
  }

  return (entry) => [...toOperations(entry), ...toChunks(entry.event)].flatMap(withData);
}

/** As the SDK has it. Only of calls that the reader was shown: of another one it knows nothing, and fails. */
function approvalRequest({
  elicitationId,
  status,
  context,
  path,
}: ElicitationEvent & TurnEvent): UIMessageChunk[] {
  const { toolCallId } = context;
  if (!isApproval(context) || status !== 'pending' || path !== undefined || toolCallId === undefined)
    return [];
  return [{ type: 'tool-approval-request', approvalId: elicitationId, toolCallId }];
}

/** What the turn's own agent says and does. */
function createSpeech(): Speech {
  const openParts = new Map<string, 'text' | 'reasoning'>();
  let errorText: string | undefined;

  function closeParts(more?: typeof voidMark): UIMessageChunk[] {
    const ends = [...openParts].map(([id, kind]): UIMessageChunk => ({ type: `${kind}-end`, id, ...more }));
    openParts.clear();
    return ends;
  }

  return (event) => {
    switch (event.type) {
      case 'turn-started':
        return [{ type: 'start', messageId: event.messageId }];
      case 'start-step':
        return [{ type: 'start-step' }];
      case 'text-start':
      case 'reasoning-start':
        openParts.set(event.id, event.type === 'text-start' ? 'text' : 'reasoning');
        return [{ type: event.type, id: event.id }];
      case 'text-delta':
      case 'reasoning-delta':
        return openParts.has(event.id) ? [{ type: event.type, id: event.id, delta: event.delta }] : [];
      case 'text-end':
      case 'reasoning-end':
        return openParts.delete(event.id) ? [{ type: event.type, id: event.id }] : [];
      case 'tool-input-available': {
        const { toolCallId, toolName, input } = event;
        return [{ type: event.type, toolCallId, toolName, input, dynamic: true }];
      }
      case 'tool-output-available':
        return [{ type: event.type, toolCallId: event.toolCallId, output: event.output, dynamic: true }];
      case 'tool-output-error':
        return [
          { type: event.type, toolCallId: event.toolCallId, errorText: event.errorText, dynamic: true },
        ];
      case 'finish-step':
        return [...closeParts(), { type: 'finish-step' }];
      case 'reset-step':
        // It can only be closed and marked; the new attempt opens its own parts.
        return closeParts(voidMark);
      case 'elicitation-request':
      case 'elicitation-consented':
      case 'tool-auth-required':
      case 'tool-progress':
        return [];
      case 'error':
        // Clients stop reading at an error, so it is said last, after the questions it closes have been updated.
        errorText = event.errorText;
        return [];
      case 'turn-ended':
        return [...closeParts(), ...ending(event.status, errorText)];
      default:
        return event satisfies never;
    }
  };
}

/** For whoever cannot take it back, on the part that was being said. */
const voidMark = { providerMetadata: { interlude: { void: true } } };

type EndStatus = Extract<TurnEvent, { type: 'turn-ended' }>['status'];

function ending(status: EndStatus, errorText: string | undefined): UIMessageChunk[] {
  switch (status) {
    case 'completed':
      return [{ type: 'finish' }];
    case 'failed':
      return [{ type: 'error', errorText: errorText ?? 'The turn failed. Try again.' }, { type: 'finish' }];
    case 'cancelled':
    case 'superseded':
      return [{ type: 'abort' }];
    default:
      return status satisfies never;
  }
}
