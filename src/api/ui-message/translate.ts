/**
 * Turn log → AI SDK UI message stream. Pure.
 *
 * Only chunk types that version 5 of the SDK already knew, plus `data-*`: any other type ends the stream of every released
 * client with a validation error. Tools are `dynamic`, so that clients accept unknown names. `reset-step`, new in version 7, is
 * for readers that declare it.
 * https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
 */
import type { UIMessageChunk } from 'ai';
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import { canPresent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../../turn/event.ts';
import { inWords } from '../../turn/for-person.ts';
import { operationId, operationOf } from '../../turn/operations.ts';
import type { Reader } from '../http/reader-headers.ts';
import { createNotices } from './notices.ts';

type ToChunks = (entry: LogEntry) => UIMessageChunk[];

/**
 * Stateful: one per reader and turn, called with every entry from the first. A question that the reader cannot show is left out
 * or replaced by a notice. Text and tool calls of delegated agents are left out: the delegating tool call is shown.
 */
export function createTranslator(reader: Reader): ToChunks {
  const { capabilities, operations, resets, toolApprovals, language } = reader;
  const toNotices = createNotices(language);
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
    // `tool-auth-required` (no one could be asked) is for every reader; other notices replace a question.
    if (event.type === 'tool-auth-required' || (!capabilities.url && notices.length > 0)) return notices;
    return event.path === undefined ? toSpeech(event) : [];
  }

  return (entry) => [...toOperations(entry), ...toChunks(inWords(entry.event, language))].flatMap(withData);
}

/** The SDK's own request for approval. Only for calls that the reader was shown: the SDK fails at others. */
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

/** Text, reasoning and tool calls of the turn's own agent. */
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
        // Sent text can only be closed and marked; the new attempt opens new parts.
        return closeParts(voidMark);
      case 'elicitation-request':
      case 'elicitation-consented':
      case 'tool-auth-required':
      case 'tool-progress':
        return [];
      case 'error':
        // Clients stop reading at an error, so it is sent last, after updates of the questions that it closes.
        errorText = event.errorText;
        return [];
      case 'turn-ended':
        return [...closeParts(), ...ending(event.status, errorText)];
      default:
        return event satisfies never;
    }
  };
}

/** Marks void text for readers that cannot discard it. */
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

type Speech = (event: TurnEvent) => UIMessageChunk[];

/**
 * For readers that drop everything since `start-step` at a `reset-step`. Sends each reset within its step, even if the void text is
 * no longer in the log: the reader may have seen it on an earlier connection.
 */
function withResets(toSpeech: Speech): Speech {
  const resetStep: UIMessageChunk = { type: 'reset-step' };
  let step: number | undefined;
  let pendingResets: UIMessageChunk[] = [];

  return (event) => {
    const chunks = toSpeech(event);
    switch (event.type) {
      case 'start-step': {
        // A reset does not remove `start-step`.
        if (step === event.step) return [];
        const resets = pendingResets;
        pendingResets = [];
        ({ step } = event);
        return [...chunks, ...resets];
      }
      case 'reset-step':
        if (step === event.step) return [resetStep];
        pendingResets.push(resetStep);
        return [];
      case 'finish-step':
        step = undefined;
        return chunks;
      default:
        return chunks;
    }
  };
}

/** A reset also drops the step's data parts, which are still valid, so they are sent again. */
function createStepData(): (chunk: UIMessageChunk) => UIMessageChunk[] {
  const data = new Map<string, UIMessageChunk>();
  return (chunk) => {
    if (chunk.type === 'start-step') data.clear();
    else if (chunk.type === 'reset-step') return [chunk, ...data.values()];
    else if (chunk.type.startsWith('data-') && 'id' in chunk) data.set(`${chunk.type} ${chunk.id}`, chunk);
    return [chunk];
  };
}
