/** Reads the content blocks of MCP results and the types of files, and describes links and files in one line. Pure. */
import type { ImageType } from '@interlude-ai/core/images.ts';

/** MCP's `CallToolResult`, as received. */
export interface McpResult {
  content?: McpContent[];
  structuredContent?: unknown;
  isError?: boolean;
  [key: string]: unknown;
}

export type McpContent = { type: string; [key: string]: unknown };

export type Content =
  | { kind: 'text'; text: string }
  /** Images, audio and other files, in base64. `uri`: if it is a resource of the server. */
  | { kind: 'file'; data: string; mediaType: string; uri?: string }
  /** A resource of the server that is text. */
  | { kind: 'document'; text: string; uri: string }
  /** `words`: the description of the link. */
  | { kind: 'link'; words: string }
  /** Of an unknown type, or malformed. */
  | { kind: 'unknown' };

export function readContent(block: McpContent): Content {
  switch (block.type) {
    case 'text':
      return typeof block['text'] === 'string' ? { kind: 'text', text: block['text'] } : { kind: 'unknown' };
    case 'image':
    case 'audio':
      return readFile(block['data'], block['mimeType']);
    case 'resource': {
      const { uri, mimeType, blob, text } = recordOf(block['resource']);
      if (typeof blob === 'string') return readFile(blob, mimeType, uri);
      return typeof text === 'string' ? { kind: 'document', text, uri: wordOf(uri) } : { kind: 'unknown' };
    }
    case 'resource_link':
      return typeof block['uri'] === 'string'
        ? { kind: 'link', words: linkInWords(block) }
        : { kind: 'unknown' };
    default:
      return { kind: 'unknown' };
  }
}

function readFile(data: unknown, mimeType: unknown, uri?: unknown): Content {
  if (typeof data !== 'string') return { kind: 'unknown' };
  const mediaType = wordOf(mimeType).toLowerCase().split(';', 1)[0]?.trim() || 'application/octet-stream';
  if (isTextual(mediaType)) {
    const text = Buffer.from(data, 'base64').toString();
    return { kind: 'document', text, uri: wordOf(uri) };
  }
  return { kind: 'file', data, mediaType, ...(typeof uri === 'string' && { uri }) };
}

/** Files of these types are text, even if they are sent as base64. */
function isTextual(mediaType: string): boolean {
  return /^text\/|^application\/(.+\+)?(json|xml|yaml)$|^image\/svg\+xml$/.test(mediaType);
}

/** The model passes the link on to the user, who can open it. */
function linkInWords(link: McpContent): string {
  const { uri, name, title, mimeType, size, description } = link;
  const about = [
    ...(typeof mimeType === 'string' ? [mimeType] : []),
    ...(typeof size === 'number' ? [sizeInWords(size)] : []),
  ];
  const details = about.length > 0 ? ` (${about.join(', ')})` : '';
  const more = typeof description === 'string' && description !== '' ? ` ${description}` : '';
  return `Link to "${wordOf(title) || wordOf(name)}": ${wordOf(uri)}${details}.${more}`;
}

export function fileInWords({ data, mediaType, uri }: Extract<Content, { kind: 'file' }>): string {
  const from = uri === undefined ? '' : ` from ${uri}`;
  return `${mediaType}, ${sizeInWords(bytesIn(data))}${from}`;
}

/** Computed from length and padding, because a server's data may not be valid base64. */
function bytesIn(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}

export function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The types of files that models can read. */
type FileType = ImageType | 'application/pdf';

type FileContent =
  /** `data`: in standard base64, with padding and without line ends. */
  | { kind: 'known'; mediaType: FileType; data: string }
  /** `is`: completes a sentence that begins with "its content". */
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

/**
 * What a file is by its bytes, not by its declared type. Servers also send base64 with line ends, without padding, in the
 * URL alphabet, or as a data URL.
 */
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

/** PDF readers look for the mark in the first kilobyte. */
function isPdf(head: Buffer): boolean {
  return head.includes('%PDF-');
}

function kindOf(head: Buffer): string {
  const text = head.toString();
  if (/^[\s\uFEFF]*<(!doctype html|html|head|body)\b/i.test(text)) return 'an HTML page';
  // The last character may be cut in two.
  return /(?![\t\n\f\r])\p{Cc}|\uFFFD/u.test(text.slice(0, -1)) ? 'of another type' : 'text';
}
