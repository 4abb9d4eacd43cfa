/** What a file is, read from its bytes, whatever it is declared to be. Pure. */
import type { ImageType } from './image-part.ts';

/** Of the files that models can read. */
export type FileType = ImageType | 'application/pdf';

export type FileContent =
  /** `data`: as every reader writes base64, with padding and without line ends. */
  | { kind: 'known'; mediaType: FileType; data: string }
  /** `is`: the rest of a sentence that begins with "its content". */
  | { kind: 'unknown'; is: string };

/** https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern */
export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  const begins = (hex: string, at = 0) =>
    bytes.subarray(at, at + hex.length / 2).equals(Buffer.from(hex, 'hex'));
  if (begins('89504e470d0a1a0a')) return 'image/png';
  if (begins('ffd8ff')) return 'image/jpeg';
  if (begins('474946383761') || begins('474946383961')) return 'image/gif';
  return begins('52494646') && begins('574542505650', 8) ? 'image/webp' : undefined;
}

/** Servers also send base64 with line ends, without padding, in its URL alphabet, or as a data URL. */
export function readFileContent(given: string): FileContent {
  const plain = given.replace(/^data:[^,]{0,100},/, '').replaceAll(/\s+/g, '');
  const data = plain
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  if (data === '') return { kind: 'unknown', is: 'is empty' };
  if (!/^[A-Za-z0-9+/]+$/.test(data) || data.length % 4 === 1)
    return { kind: 'unknown', is: 'is not base64' };
  const head = Buffer.from(data.slice(0, 1_024), 'base64');
  const mediaType = imageTypeOf(head) ?? (isPdf(head) ? 'application/pdf' : undefined);
  if (mediaType) return { kind: 'known', mediaType, data: data.padEnd(Math.ceil(data.length / 4) * 4, '=') };
  return { kind: 'unknown', is: `is ${kindOf(head)}` };
}

/** Readers look for the mark in the first kilobyte. */
function isPdf(head: Buffer): boolean {
  return head.includes('%PDF-');
}

function kindOf(head: Buffer): string {
  const text = head.toString();
  if (/^[\s\uFEFF]*<(!doctype html|html|head|body)\b/i.test(text)) return 'an HTML page';
  // The last character may be cut in two.
  return /(?![\t\n\f\r])\p{Cc}|\uFFFD/u.test(text.slice(0, -1)) ? 'of another type' : 'text';
}
