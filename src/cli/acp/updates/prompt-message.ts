/** What an editor's user sends → a message of the conversation. Pure. */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { inCode } from './tool-output.ts';

export type PromptMessage =
  /** `images`: as data: URLs. */
  | { kind: 'message'; text: string; images?: string[]; context?: string }
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
  const images: string[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        words.push(block.text);
        break;
      case 'resource_link':
        words.push(`[${block.title ?? block.name}](${block.uri})`);
        break;
      case 'resource':
        if ('text' in block.resource) attached.push(`${block.resource.uri}\n${block.resource.text}`);
        else if (block.resource.mimeType?.startsWith('image/'))
          images.push(toDataUrl(block.resource.mimeType, block.resource.blob));
        else return refused(`${block.resource.uri} is a file that is neither text nor an image.`);
        break;
      case 'image':
        // Whether this agent takes it, the service knows best.
        images.push(toDataUrl(block.mimeType, block.data));
        break;
      case 'audio':
        return refused('This agent takes no audio content: promptCapabilities says so.');
      default:
        block satisfies never;
        return refused('A block of the prompt has a type that ACP v1 does not know.');
    }
  }
  const text = words.join('').trim();
  const context = attached.join('\n\n');
  if (text === '' && context === '' && images.length === 0) return refused('The prompt is empty.');
  const beside = images.length > 0 ? { images } : {};
  if (context === '') return { kind: 'message', text, ...beside };
  if (context.length <= mostContext)
    return { kind: 'message', text: text || 'See what is attached.', ...beside, context };
  return { kind: 'message', text: [text, ...attached.map((one) => inCode(one, ''))].join('\n\n'), ...beside };
}

function toDataUrl(mediaType: string, base64: string): string {
  return `data:${mediaType};base64,${base64}`;
}

function refused(reason: string): PromptMessage {
  return { kind: 'refused', reason };
}
