/** Reads the content blocks of MCP results, and describes links and files in one line. Pure. */

/** MCP's `CallToolResult`, as it came over the wire. */
export interface McpResult {
  content?: McpContent[];
  structuredContent?: unknown;
  isError?: boolean;
  [key: string]: unknown;
}

export type McpContent = { type: string; [key: string]: unknown };

export type Content =
  | { kind: 'text'; text: string }
  /** Images, audio and other files, in base64. `uri`: of a resource of the server. */
  | { kind: 'file'; data: string; mediaType: string; uri?: string }
  /** A resource of the server that is text. */
  | { kind: 'document'; text: string; uri: string }
  /** `words`: the link described in text. */
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

/** Files of these types are text, even if they come as base64. */
function isTextual(mediaType: string): boolean {
  return /^text\/|^application\/(.+\+)?(json|xml|yaml)$|^image\/svg\+xml$/.test(mediaType);
}

/** The model passes it on to the user, who can open it. */
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

/** From the length and the padding alone: a server's data may be no base64 at all. */
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
