/** What an editor's user sends → a message of the conversation. Pure. */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { inCode } from './tool-output.ts';

export type PromptMessage =
  | { kind: 'message'; text: string; context?: string }
  /** `reason`: one sentence, for whoever wrote the client. */
  | { kind: 'refused'; reason: string };

/** What the service takes as context of a message. Files that are larger become part of its words. */
const mostContext = 16_000;

/**
 * Attached texts are told beside the words, as something to look things up in that the user has not written. Links stay
 * in the words: the agent may have a tool that opens them.
 */
export function toPromptMessage(blocks: readonly ContentBlock[]): PromptMessage {
  const words: string[] = [];
  const attached: string[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        words.push(block.text);
        break;
      case 'resource_link':
        words.push(`[${block.title ?? block.name}](${block.uri})`);
        break;
      case 'resource':
        if (!('text' in block.resource))
          return refused(`${block.resource.uri} is a file that is no text; this agent takes texts.`);
        attached.push(`${block.resource.uri}\n${block.resource.text}`);
        break;
      case 'image':
      case 'audio':
        return refused(`This agent takes no ${block.type} content: promptCapabilities says so.`);
      default:
        block satisfies never;
        return refused('A block of the prompt has a type that ACP v1 does not know.');
    }
  }
  const text = words.join('').trim();
  const context = attached.join('\n\n');
  if (text === '' && context === '') return refused('The prompt is empty.');
  if (context === '') return { kind: 'message', text };
  if (context.length <= mostContext)
    return { kind: 'message', text: text || 'See what is attached.', context };
  return { kind: 'message', text: [text, ...attached.map((one) => inCode(one, ''))].join('\n\n') };
}

function refused(reason: string): PromptMessage {
  return { kind: 'refused', reason };
}
