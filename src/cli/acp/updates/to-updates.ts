/**
 * Events of the feed → updates of the session, for one conversation and in order. Pure, but for what it remembers: which
 * calls it has told, and what the turn's steps have said.
 *
 * Tool calls of delegated agents are told, too, under an id of their own, because the questions of those calls name them.
 * What delegated agents say among themselves is not: it is the result of the call that asked them.
 */
import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { ElicitationRequest } from '../../../contract/elicitation.ts';
import type { StreamEvent } from '../../../contract/stream-event.ts';
import { forPeople } from '../../../elicitation/for-people.ts';
import { plainText } from '../../../elicitation/plain-text.ts';
import { toolLabel } from '../../chat/wording.ts';
import { outputContent, textContent } from './tool-output.ts';
import { toolKind } from './tool-kind.ts';

export interface ToUpdates {
  toUpdates(event: StreamEvent): SessionUpdate[];
  /** Under which id the editor knows the call that a question belongs to; undefined when it was not told. */
  callOf(question: Pick<ElicitationRequest, 'context'>): string | undefined;
}

type Of<Type extends StreamEvent['type']> = Extract<StreamEvent, { type: Type }>;
type ToolEvent = Of<'tool-input-available' | 'tool-output-available' | 'tool-output-error' | 'tool-progress'>;

export function createToUpdates(): ToUpdates {
  /** By agent and the call's own id. */
  const told = new Map<string, string>();
  /** The step that is not finished has said something that the editor was told, and was not told to be void. */
  let hasSpoken = false;

  function speak(event: Of<'text-delta' | 'reasoning-delta'>): SessionUpdate[] {
    if (event.path !== undefined || event.delta === '') return [];
    const sessionUpdate = event.type === 'text-delta' ? 'agent_message_chunk' : 'agent_thought_chunk';
    hasSpoken ||= event.type === 'text-delta';
    return [chunk(sessionUpdate, event.delta, `${event.turnId}:${event.id}`)];
  }

  function begin(event: Of<'tool-input-available'>): SessionUpdate[] {
    const toolCallId = callId(event);
    told.set(keyOf(event), toolCallId);
    const { toolName, input, agent, path } = event;
    const title = [...(path ?? []), toolLabel(toolName)].map(plainText).join(' › ');
    return [
      {
        sessionUpdate: 'tool_call',
        toolCallId,
        title,
        name: toolName,
        kind: agent === undefined ? toolKind(toolName) : 'think',
        status: 'in_progress',
        rawInput: input,
      },
    ];
  }

  function change(event: ToolEvent, update: Omit<ToolCallUpdate, 'toolCallId'>): SessionUpdate[] {
    const toolCallId = told.get(keyOf(event));
    return toolCallId === undefined ? [] : [{ sessionUpdate: 'tool_call_update', toolCallId, ...update }];
  }

  function toUpdates(event: StreamEvent): SessionUpdate[] {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return speak(event);
      case 'finish-step':
      case 'turn-ended':
        if (event.path === undefined) hasSpoken = false;
        return [];
      case 'reset-step':
        if (event.path !== undefined || !hasSpoken) return [];
        hasSpoken = false;
        // It cannot be taken back.
        return [chunk('agent_message_chunk', `\n\n${cutOff}\n\n`, `${event.turnId}:reset-${event.step}`)];
      case 'tool-input-available':
        return begin(event);
      case 'tool-progress':
        return change(event, { status: 'in_progress', content: textContent(progressInWords(event)) });
      case 'tool-output-available':
        return change(event, {
          status: 'completed',
          content: outputContent(event.output),
          rawOutput: event.output,
        });
      case 'tool-output-error':
        return change(event, {
          status: 'failed',
          content: textContent(forPeople(plainText(event.errorText))),
        });
      case 'tool-auth-required':
        return [
          chunk('agent_message_chunk', `${noticeInWords(event)}\n\n`, `${event.turnId}:${event.toolCallId}`),
        ];
      case 'turn-started':
      case 'start-step':
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-end':
      case 'elicitation-request':
      case 'elicitation-consented':
      case 'data-operation':
      case 'error':
        return [];
      default:
        event satisfies never;
        // A type that is newer than this program.
        return [];
    }
  }

  return {
    toUpdates,
    callOf: ({ context: { toolCallId, path } }) =>
      toolCallId === undefined ? undefined : told.get(keyOf({ toolCallId, path })),
  };
}

export function chunk(
  sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
  messageId: string,
): SessionUpdate {
  return { sessionUpdate, messageId, content: { type: 'text', text } };
}

const cutOff = '*That was cut off; the agent begins again.*';

/** Two delegations to one agent may make calls of the same id. */
function callId({ toolCallId, parentToolCallId }: ToolEvent): string {
  return parentToolCallId === undefined ? toolCallId : `${parentToolCallId}/${toolCallId}`;
}

function keyOf({ toolCallId, path }: { toolCallId: string; path?: string[] | undefined }): string {
  return JSON.stringify([path ?? [], toolCallId]);
}

function progressInWords({ progress, total, message }: Of<'tool-progress'>): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${amount}: ${plainText(message)}`;
}

/** Nobody was asked, because the editor cannot show links: where the account can be connected at any time. */
function noticeInWords({ message, url }: Of<'tool-auth-required'>): string {
  return url === undefined ? plainText(message) : `${plainText(message)} ${url}`;
}
