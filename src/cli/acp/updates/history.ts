/** What was said in a conversation → updates, for an editor that loads it. Pure. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { ConversationMessages } from '../../../contract/conversations.ts';
import { forPeople } from '../../../elicitation/for-people.ts';
import { plainText } from '../../../elicitation/plain-text.ts';
import { toolLabel } from '../../chat/wording.ts';
import { chunk } from './to-updates.ts';
import { outputContent, textContent } from './tool-output.ts';
import { toolKind } from './tool-kind.ts';

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
      // Steps, questions that are settled, and what is newer than this program.
      return [];
  }
}

/** The service tells images as data: URLs in base64. */
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
      return { status: 'failed', content: textContent(forPeople(plainText(String(errorText)))) } as const;
    default:
      // The turn ended before the call did.
      return { status: 'failed' } as const;
  }
}
