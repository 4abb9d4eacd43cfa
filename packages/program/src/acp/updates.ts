/**
 * Events of the feed → updates of the session, for one conversation and in order. Remembers which calls the editor knows, and
 * whether the current step has said anything.
 *
 * Tool calls of delegated agents are sent under ids of their own, because questions of those calls name them. The text of
 * delegated agents is not sent: it is the result of the call that asked them.
 */
import type {
  ContentBlock,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk';
import { isRecord } from '@interlude-ai/client/interlude-error.ts';
import type { ConversationMessages } from '@interlude-ai/core/contract/conversations.ts';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';
import { plainText } from '@interlude-ai/core/elicitation/plain-text.ts';
import { toolLabel } from '../chat/wording.ts';

type Of<Type extends StreamEvent['type']> = Extract<StreamEvent, { type: Type }>;
type ToolEvent = Of<'tool-input-available' | 'tool-output-available' | 'tool-output-error' | 'tool-progress'>;

export function createUpdates() {
  /** By agent and the call's own id. */
  const callIds = new Map<string, string>();
  /** The current step has sent text that was not voided yet. */
  let hasSpoken = false;

  function speak(event: Of<'text-delta' | 'reasoning-delta'>): SessionUpdate[] {
    if (event.path !== undefined || event.delta === '') return [];
    const sessionUpdate = event.type === 'text-delta' ? 'agent_message_chunk' : 'agent_thought_chunk';
    hasSpoken ||= event.type === 'text-delta';
    return [chunk(sessionUpdate, event.delta, `${event.turnId}:${event.id}`)];
  }

  function begin(event: Of<'tool-input-available'>): SessionUpdate[] {
    const toolCallId = callId(event);
    callIds.set(keyOf(event), toolCallId);
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
    const toolCallId = callIds.get(keyOf(event));
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
        // It cannot be removed.
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
          content: textContent(plainText(event.errorText)),
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
    /** The id under which the editor knows the call of a question; undefined if it was not sent. */
    callOf: ({ context: { toolCallId, path } }: Pick<ElicitationRequest, 'context'>) =>
      toolCallId === undefined ? undefined : callIds.get(keyOf({ toolCallId, path })),
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

/** The editor cannot show links, so this names the page where the account can be connected at any time. */
function noticeInWords({ message, url }: Of<'tool-auth-required'>): string {
  return url === undefined ? plainText(message) : `${plainText(message)} ${url}`;
}

// History, for an editor that loads a conversation.

type UiMessage = ConversationMessages['messages']['items'][number];
type UiPart = UiMessage['parts'][number];

export function historyUpdates(messages: readonly UiMessage[]): SessionUpdate[] {
  return messages.flatMap((message) =>
    message.parts.flatMap((part, index) => partUpdates(message, part, `${message.id}:${index}`)),
  );
}

function partUpdates({ role }: UiMessage, part: UiPart, messageId: string): SessionUpdate[] {
  const text = typeof part['text'] === 'string' ? part['text'] : '';
  switch (part.type) {
    case 'text':
      if (text === '') return [];
      return [chunk(role === 'user' ? 'user_message_chunk' : 'agent_message_chunk', text, messageId)];
    case 'reasoning':
      return text === '' ? [] : [chunk('agent_thought_chunk', text, messageId)];
    case 'file':
      return role === 'user' ? imageUpdates(part['url'], messageId) : [];
    case 'dynamic-tool':
      return callUpdates(part);
    default:
      // Steps, settled questions, and newer types.
      return [];
  }
}

/** The service sends images as data: URLs in base64. */
function imageUpdates(url: unknown, messageId: string): SessionUpdate[] {
  if (typeof url !== 'string' || !url.startsWith('data:image/')) return [];
  const [mimeType = '', data = ''] = url.slice('data:'.length).split(';base64,');
  return [{ sessionUpdate: 'user_message_chunk', messageId, content: { type: 'image', mimeType, data } }];
}

function callUpdates(part: UiPart): SessionUpdate[] {
  const { toolCallId, toolName } = part;
  if (typeof toolCallId !== 'string' || typeof toolName !== 'string') return [];
  return [
    {
      sessionUpdate: 'tool_call',
      toolCallId,
      title: toolLabel(toolName),
      name: toolName,
      kind: toolName.startsWith('agent__') ? 'think' : toolKind(toolName),
      rawInput: part['input'],
      ...callEnd(part),
    },
  ];
}

function callEnd({ state, output, errorText }: UiPart) {
  switch (state) {
    case 'output-available':
      return { status: 'completed', content: outputContent(output), rawOutput: output } as const;
    case 'output-error':
      return { status: 'failed', content: textContent(plainText(String(errorText))) } as const;
    default:
      // The turn ended before the call did.
      return { status: 'failed' } as const;
  }
}

// Output of tools. ACP's content blocks are those of MCP, so a server's blocks pass unchanged.

export function textContent(text: string): ToolCallContent[] {
  return text === '' ? [] : [{ type: 'content', content: { type: 'text', text } }];
}

export function outputContent(output: unknown): ToolCallContent[] {
  if (output === undefined || output === null) return [];
  if (typeof output === 'string') return textContent(plainText(output));
  const blocks = isRecord(output) && Array.isArray(output['content']) ? output['content'].map(toBlock) : [];
  const shown = blocks.filter((block) => block !== null);
  if (shown.length > 0) return shown.map((content) => ({ type: 'content', content }));
  return textContent(inCode(JSON.stringify(output, null, 2), 'json'));
}

/** The text cannot close this fence. */
export function inCode(text: string, language: string): string {
  const runs = Array.from(text.matchAll(/`+/g), ([run]) => run.length);
  const fence = '`'.repeat(Math.max(3, ...runs.map((length) => length + 1)));
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Null for types that ACP does not have, and for malformed blocks. */
function toBlock(block: unknown): ContentBlock | null {
  if (!isRecord(block)) return null;
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? { type: 'text', text: plainText(block['text']) } : null;
    case 'image':
    case 'audio':
      return isText(block, 'data') && isText(block, 'mimeType')
        ? { type: block['type'], data: block['data'], mimeType: block['mimeType'] }
        : null;
    case 'resource_link':
      return isText(block, 'uri') ? { type: 'resource_link', uri: block['uri'], name: nameOf(block) } : null;
    case 'resource':
      return toResource(block['resource']);
    default:
      return null;
  }
}

function toResource(resource: unknown): ContentBlock | null {
  if (!isRecord(resource) || !isText(resource, 'uri')) return null;
  const { uri } = resource;
  const mimeType = isText(resource, 'mimeType') ? { mimeType: resource['mimeType'] } : {};
  if (isText(resource, 'text'))
    return { type: 'resource', resource: { uri, ...mimeType, text: plainText(resource['text']) } };
  return isText(resource, 'blob')
    ? { type: 'resource', resource: { uri, ...mimeType, blob: resource['blob'] } }
    : null;
}

function nameOf(link: Record<string, unknown>): string {
  const names = [link['title'], link['name'], link['uri']];
  return plainText(String(names.find((name) => typeof name === 'string' && name !== '')));
}

function isText<Name extends string>(
  value: Record<string, unknown>,
  name: Name,
): value is Record<string, unknown> & Record<Name, string> {
  return typeof value[name] === 'string';
}

// The kind of a tool call decides the icon that an editor draws. It is guessed from the tool's name, so nothing may depend on it
// (see `permissionKind`).

const verbs: [ToolKind, string][] = [
  ['delete', 'delete remove drop destroy purge erase clear'],
  ['move', 'move rename transfer'],
  ['edit', 'create add update edit write set put patch insert save assign book'],
  ['execute', 'run execute exec start stop restart deploy send call'],
  ['search', 'search find query lookup grep'],
  ['fetch', 'fetch download browse open crawl'],
  ['read', 'get list read show view describe count check status'],
];

const kinds = new Map(
  verbs.flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind] as const)),
);

export function toolKind(toolName: string): ToolKind {
  const own = toolName.split('__').at(-1) ?? toolName;
  const words = own.split(/[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return words.map((word) => kinds.get(word)).find((kind) => kind !== undefined) ?? 'other';
}

/**
 * For a call that a person has to approve. Clients let reading calls pass without asking, so a guess must not say
 * "read".
 */
export function permissionKind(toolName: string): ToolKind {
  const kind = toolKind(toolName);
  return kind === 'delete' || kind === 'move' || kind === 'edit' ? kind : 'execute';
}
