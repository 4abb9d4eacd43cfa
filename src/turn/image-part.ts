/**
 * An image in a user's message. The stored message names it; its bytes are kept beside the messages and are put in
 * (`data`) for whoever is shown it. Pure.
 */
import type { FilePart, TextPart } from 'ai';
import { sizeInWords } from './tool-content.ts';

export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

export type ImageType = (typeof imageTypes)[number];

export interface ImagePart {
  /** None that the AI SDK knows: what is handed on without its bytes is refused there, not misread. */
  type: 'stored-image';
  /** Of its bytes; with the turn, its name in the database. */
  digest: string;
  mediaType: ImageType;
  /** How many it has. */
  bytes: number;
  /** In base64; absent where the message is stored, and where the image is not shown. */
  data?: string;
}

export function isImagePart(part: unknown): part is ImagePart {
  return typeof part === 'object' && part !== null && 'type' in part && part.type === 'stored-image';
}

export function imagesIn(content: unknown): ImagePart[] {
  return Array.isArray(content) ? content.filter(isImagePart) : [];
}

/** For a model that takes images. */
export function inModelForm(image: ImagePart): FilePart | TextPart {
  const { mediaType, data } = image;
  if (data !== undefined) return { type: 'file', mediaType, data: { type: 'data', data } };
  return { type: 'text', text: `[${imageInWords(image)}, which is not shown to you here]` };
}

export function imageInWords({ mediaType, bytes }: Pick<ImagePart, 'mediaType' | 'bytes'>): string {
  return `an image: ${mediaType}, ${sizeInWords(bytes)}`;
}
