/**
 * Turn log → events of AG-UI, and the messages that they add up to. Pure.
 *
 * Clients verify the order of events: what was opened is closed by its owner, and before the run ends. A delegate is a subagent
 * whose id is the tool call that delegated to it.
 * https://docs.ag-ui.com/spec/1.0/events
 */
import type { AgUiEvent } from '@interlude-ai/core/contract/ag-ui.ts';
import type { LogEntry, TurnEvent } from '../../turn/event.ts';
import { toResultContent } from './content.ts';

export interface AgUiMessage {
  id: string;
  role: 'user' | 'assistant' | 'tool' | 'reasoning';
  content?: unknown;
  toolCalls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  toolCallId?: string;
  error?: string;
  metadata?: object;
  subagentRunId?: string;
}

export interface Translator {
  add(entry: LogEntry): AgUiEvent[];
  /** Whether a text or reasoning is being written. */
  isWriting(): boolean;
  /** The steps and subagents that are at work, for a client that has all messages. */
  open(): AgUiEvent[];
  /** Closes everything at a pause. */
  suspend(interrupts: { id: string; subagentRunId?: string }[]): AgUiEvent[];
  messages(): AgUiMessage[];
}

/** Undefined for the turn's own agent. */
type Owner = string | undefined;

interface Part {
  id: string;
  kind: 'text' | 'reasoning';
  owner: Owner;
  message: AgUiMessage;
}

interface Step {
  stepName: string;
  /** What the model call wrote; void if the call is repeated. */
  written: AgUiMessage[];
  /** The message that holds the tool calls of the step. */
  holder?: AgUiMessage;
}

interface Subagent {
  name: string;
  parent: Owner;
  parentMessageId: string;
}

interface Reader {
  /** A client of before 1.0, whose tool results are texts. */
  isOld?: boolean;
}

/** Stateful: one per reader and turn. */
export function createTranslator({ isOld = false }: Reader = {}): Translator {
  let messages: AgUiMessage[] = [];
  let parts: Part[] = [];
  const steps = new Map<Owner, Step>();
  const subagents = new Map<string, Subagent>();

  const startOf = ({ kind, owner, message }: Part): AgUiEvent[] => {
    const about = { messageId: message.id, ...by(owner) };
    if (kind === 'text') return [{ type: 'TEXT_MESSAGE_START', ...about, role: 'assistant' }];
    return [
      { type: 'REASONING_START', ...about },
      { type: 'REASONING_MESSAGE_START', ...about, role: 'reasoning' },
    ];
  };

  const endOf = ({ kind, owner, message }: Part): AgUiEvent[] => {
    const about = { messageId: message.id, ...by(owner) };
    if (kind === 'text') return [{ type: 'TEXT_MESSAGE_END', ...about }];
    return [
      { type: 'REASONING_MESSAGE_END', ...about },
      { type: 'REASONING_END', ...about },
    ];
  };

  function closeParts(which: (part: Part) => boolean): AgUiEvent[] {
    const closed = parts.filter(which);
    parts = parts.filter((part) => !which(part));
    return closed.flatMap(endOf);
  }

  function closeOwner(owner: Owner): AgUiEvent[] {
    const step = steps.get(owner);
    steps.delete(owner);
    return [
      ...closeParts((part) => part.owner === owner),
      ...(step ? [{ type: 'STEP_FINISHED' as const, stepName: step.stepName, ...by(owner) }] : []),
    ];
  }

  /** Inner subagents first. */
  function closeAll(end: (subagentRunId: string) => AgUiEvent): AgUiEvent[] {
    const running = [...subagents.keys()].toReversed();
    subagents.clear();
    return [...running.flatMap((id) => [...closeOwner(id), end(id)]), ...closeOwner(undefined)];
  }

  function startPart(entry: LogEntry, kind: Part['kind'], id: string): Part {
    const owner = ownerOf(entry.event);
    const role = kind === 'text' ? ('assistant' as const) : ('reasoning' as const);
    const message: AgUiMessage = { id: idOf(entry), role, content: '', ...by(owner) };
    const part = { id, kind, owner, message };
    messages.push(message);
    parts.push(part);
    const step = steps.get(owner);
    step?.written.push(message);
    if (step && kind === 'text') step.holder = message;
    return part;
  }

  function callTool(entry: LogEntry, event: Of<'tool-input-available'>): AgUiEvent[] {
    const owner = ownerOf(event);
    const { toolCallId, toolName, agent } = event;
    const delta = JSON.stringify(event.input ?? {});
    const step = steps.get(owner);
    let holder = step?.holder;
    if (!holder) {
      holder = { id: idOf(entry), role: 'assistant', ...by(owner) };
      messages.push(holder);
      step?.written.push(holder);
      if (step) step.holder = holder;
    }
    const call = {
      id: toolCallId,
      type: 'function' as const,
      function: { name: toolName, arguments: delta },
    };
    holder.toolCalls = [...(holder.toolCalls ?? []), call];
    const about = { toolCallId, ...by(owner) };
    if (agent !== undefined)
      subagents.set(toolCallId, { name: agent, parent: owner, parentMessageId: holder.id });
    return [
      { type: 'TOOL_CALL_START', ...about, toolCallName: toolName, parentMessageId: holder.id },
      { type: 'TOOL_CALL_ARGS', ...about, delta },
      { type: 'TOOL_CALL_END', ...about },
      ...startOfSubagent(toolCallId),
    ];
  }

  function startOfSubagent(subagentRunId: string): AgUiEvent[] {
    const subagent = subagents.get(subagentRunId);
    if (!subagent) return [];
    const { name, parent, parentMessageId } = subagent;
    const parentSubagentRunId = parent === undefined ? {} : { parentSubagentRunId: parent };
    const from = { parentToolCallId: subagentRunId, parentMessageId, ...parentSubagentRunId };
    return [{ type: 'SUBAGENT_STARTED', subagentRunId, name, ...from }];
  }

  function finishCall(
    entry: LogEntry,
    event: Of<'tool-output-available'> | Of<'tool-output-error'>,
  ): AgUiEvent[] {
    const { toolCallId } = event;
    const failed = event.type === 'tool-output-error' ? event.errorText : undefined;
    const content = failed ?? toResultContent((event as Of<'tool-output-available'>).output, { isOld });
    const metadata = failed === undefined ? {} : { metadata: { interlude: { isError: true } } };
    const about = { toolCallId, role: 'tool' as const, content, ...metadata, ...by(ownerOf(event)) };
    const messageId = idOf(entry);
    putResult({ id: messageId, ...about, ...(failed !== undefined && { error: failed }) });
    const closed = subagents.delete(toolCallId)
      ? [...closeOwner(toolCallId), endOfSubagent(toolCallId, failed)]
      : [];
    return [...closed, { type: 'TOOL_CALL_RESULT', messageId, ...about }];
  }

  /** Where clients put it: after the message with its call, and the results that are there. */
  function putResult(message: AgUiMessage): void {
    const holder = messages.findIndex(({ toolCalls = [] }) =>
      toolCalls.some(({ id }) => id === message.toolCallId),
    );
    const after = messages.findIndex(({ role }, index) => index > holder && role !== 'tool');
    messages.splice(holder === -1 || after === -1 ? messages.length : after, 0, message);
  }

  /** The only event that takes text back is a snapshot without it. Its reader adds the messages of earlier turns. */
  function takeBack(owner: Owner): AgUiEvent[] {
    const step = steps.get(owner);
    const written = step?.written ?? [];
    if (step) steps.set(owner, { stepName: step.stepName, written: [] });
    const closed = closeParts((part) => part.owner === owner);
    if (written.length === 0) return closed;
    messages = messages.filter((message) => !written.includes(message));
    return [...closed, { type: 'MESSAGES_SNAPSHOT', messages: structuredClone(messages) }];
  }

  function add(entry: LogEntry): AgUiEvent[] {
    const { event } = entry;
    const owner = ownerOf(event);
    switch (event.type) {
      case 'turn-started':
      case 'elicitation-consented':
      case 'error':
        return [];
      case 'start-step': {
        const stepName = `step ${event.step + 1}`;
        const isRepeated = steps.get(owner)?.stepName === stepName;
        const closed = isRepeated ? [] : closeOwner(owner);
        steps.set(owner, { stepName, written: [] });
        return isRepeated ? [] : [...closed, { type: 'STEP_STARTED', stepName, ...by(owner) }];
      }
      case 'finish-step':
        return closeOwner(owner);
      case 'reset-step':
        return takeBack(owner);
      case 'text-start':
      case 'reasoning-start':
        return startOf(startPart(entry, event.type === 'text-start' ? 'text' : 'reasoning', event.id));
      case 'text-delta':
      case 'reasoning-delta': {
        const kind = event.type === 'text-delta' ? 'text' : 'reasoning';
        const known = parts.find((one) => one.id === event.id && one.owner === owner && one.kind === kind);
        const part = known ?? startPart(entry, kind, event.id);
        part.message.content += event.delta;
        const type = kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT';
        const about = { messageId: part.message.id, ...by(owner) };
        return [...(known ? [] : startOf(part)), { type, ...about, delta: event.delta }];
      }
      case 'text-end':
      case 'reasoning-end':
        return closeParts((part) => part.id === event.id && part.owner === owner);
      case 'tool-input-available':
        return callTool(entry, event);
      case 'tool-output-available':
      case 'tool-output-error':
        return finishCall(entry, event);
      case 'tool-progress': {
        const { toolCallId, toolName, progress, total, message } = event;
        const messageId = `${entry.turnId}.progress.${toolCallId}`;
        const content = { toolCallId, toolName, progress, total, message };
        return [
          { type: 'ACTIVITY_SNAPSHOT', messageId, activityType: 'tool-progress', content, ...by(owner) },
        ];
      }
      case 'tool-auth-required': {
        const { toolCallId, toolName, server, serverTitle, message, url } = event;
        const value = { toolCallId, toolName, server, serverTitle, message, url };
        return [{ type: 'CUSTOM', name: 'interlude/tool-auth-required', value, ...by(owner) }];
      }
      case 'elicitation-request':
        // The client has the result of its own tool, or gets why there is none.
        return event.status === 'pending' || event.context.trigger === 'frontend_tool'
          ? []
          : [questionSettled({ interruptId: event.elicitationId, status: event.status })];
      case 'turn-ended':
        return closeAll((id) => endOfSubagent(id, 'The turn ended before this agent was done.'));
      default:
        return event satisfies never;
    }
  }

  return {
    add,
    isWriting: () => parts.length > 0,
    open: () => [
      ...[...subagents.keys()].flatMap(startOfSubagent),
      ...[...steps].map(([owner, { stepName }]): AgUiEvent => ({
        type: 'STEP_STARTED',
        stepName,
        ...by(owner),
      })),
    ],
    suspend: (interrupts) =>
      closeAll((subagentRunId) => {
        const own = interrupts.filter((one) => one.subagentRunId === subagentRunId);
        const outcome = {
          type: 'suspended',
          ...(own.length > 0 && { interruptIds: own.map(({ id }) => id) }),
        };
        return { type: 'SUBAGENT_FINISHED', subagentRunId, outcome };
      }),
    messages: () => messages,
  };
}

/**
 * A turn from its beginning, for a client that has these reasoning messages of it. A snapshot does not take reasoning from a client,
 * and a client adds to what it has: so they are in the snapshot as they are now, and do not come again.
 */
export function fromBeginning(
  events: AgUiEvent[],
  messages: AgUiMessage[],
  had: ReadonlySet<unknown>,
): { snapshot: AgUiMessage[]; events: AgUiEvent[] } {
  return {
    snapshot: messages.filter(({ id, role }) => role === 'reasoning' && had.has(id)),
    events: events.filter(
      ({ type, messageId }) => type !== 'REASONING_MESSAGE_CONTENT' || !had.has(messageId),
    ),
  };
}

export interface SettledQuestion {
  interruptId: string;
  /** How it ended. */
  status: string;
  /** Of a call of a tool of the front end. */
  toolCallId?: string;
}

export function questionSettled(value: SettledQuestion): AgUiEvent {
  return { type: 'CUSTOM', name: 'interlude/question', value };
}

type Of<Type extends TurnEvent['type']> = Extract<TurnEvent, { type: Type }>;

function endOfSubagent(subagentRunId: string, failed: string | undefined): AgUiEvent {
  return failed === undefined
    ? { type: 'SUBAGENT_FINISHED', subagentRunId }
    : { type: 'SUBAGENT_ERROR', subagentRunId, message: failed };
}

function ownerOf({ parentToolCallId }: Pick<TurnEvent, 'parentToolCallId'>): Owner {
  return parentToolCallId;
}

function by(owner: Owner): { subagentRunId?: string } {
  return owner === undefined ? {} : { subagentRunId: owner };
}

/** Unique in the thread, and the same for every reader. */
function idOf({ turnId, seq }: LogEntry): string {
  return idPrefix(turnId) + seq;
}

/** Whether the message came from us, in any turn. */
export function isOwnMessage(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.\d+$/.test(id);
}

/** What the ids of a turn's messages begin with. */
export function idPrefix(turnId: string): string {
  return `${turnId}.`;
}
