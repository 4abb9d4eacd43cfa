/** What somebody reads of a stored message: its texts, and its images in words. Pure. */
import { imageInWords, isImagePart } from './image-part.ts';
import { isPageContext } from './page-context.ts';

/** Without page context, which the user did not say. Empty for content that is none. */
export function saidTexts(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    if (typeof part !== 'object' || part === null || isPageContext(part)) return [];
    if (isImagePart(part)) return [`[${imageInWords(part)}]`];
    return 'text' in part && typeof part.text === 'string' ? [part.text] : [];
  });
}
