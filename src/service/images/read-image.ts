/** What a client says is an image: read from base64, and known by its first bytes, whatever it is said to be. Pure. */
import { createHash } from 'node:crypto';
import { imageTypeOf } from '../../turn/file-content.ts';
import type { ImageType } from '../../turn/image-part.ts';

export interface ReadImage {
  digest: string;
  mediaType: ImageType;
  bytes: number;
  /** As every reader writes base64: with padding, without line ends. */
  data: string;
}

export type ImageReading = { kind: 'image'; image: ReadImage } | { kind: 'refused'; reason: string };

export function readImage(base64: string, { maxBytes }: { maxBytes: number }): ImageReading {
  const tooLarge = refused(`the image is too large; send at most ${maxBytes} bytes`);
  // Before anything is made of it.
  if (base64.length > Math.ceil(maxBytes / 3) * 4) return tooLarge;
  const bytes = Buffer.from(base64, 'base64');
  // Node reads what it can and leaves out the rest.
  if (bytes.length === 0 || bytes.toString('base64') !== base64)
    return refused('this is not base64, or a part of it is missing');
  if (bytes.length > maxBytes) return tooLarge;
  const mediaType = imageTypeOf(bytes);
  if (!mediaType) return refused('the bytes are of no image that is understood; send PNG, JPEG, GIF or WebP');
  const digest = createHash('sha256').update(bytes).digest('base64url');
  return { kind: 'image', image: { digest, mediaType, bytes: bytes.length, data: base64 } };
}

function refused(reason: string): ImageReading {
  return { kind: 'refused', reason };
}
