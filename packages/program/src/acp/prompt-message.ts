/** A prompt of the editor → a message of the conversation. Pure. */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { inCode } from './updates.ts';

export type PromptMessage =
  /** `images`: as data: URLs. */
  | { kind: 'message'; text: string; images?: string[]; context?: string }
  /** `reason`: one sentence for the author of the client. */
  | { kind: 'refused'; reason: string };

/** The service's limit for the context of a message. Larger files become part of the text. */
const mostContext = 16_000;

/**
 * Attached texts become context, which the user has not written. Links stay in the text: the agent may have a tool that
 * opens them.
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
        // The service decides whether the agent takes it.
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
