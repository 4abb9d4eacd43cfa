/** What the bridge has to know of a message of MCP to carry it over HTTP. Pure. */

export interface Message {
  jsonrpc?: unknown;
  id?: unknown;
  method?: unknown;
  params?: Record<string, unknown>;
  result?: unknown;
  [member: string]: unknown;
}

const versionKey = 'io.modelcontextprotocol/protocolVersion';
/** What a request is about, which its header `Mcp-Name` repeats. */
const names = ['name', 'uri', 'taskId'];

/** Null for what is no JSON object. */
export function readMessage(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Message) : null;
  } catch {
    return null;
  }
}

export function isRequest({ id, method }: Message): boolean {
  return method !== undefined && id !== undefined && id !== null;
}

/** Requests since 2026-07-28 carry their version; all else belongs to a session. */
export function eraOf(message: Message): 'modern' | 'legacy' {
  return versionOf(message) === undefined ? 'legacy' : 'modern';
}

/** Those that have to repeat what the body says (2026-07-28, "Standard Request Headers"). */
export function headersOf(message: Message): Record<string, string> {
  const { method, params = {} } = message;
  const name = names.map((key) => params[key]).find((value) => typeof value === 'string');
  return {
    'mcp-protocol-version': versionOf(message) ?? '',
    'mcp-method': String(method),
    ...(name !== undefined && { 'mcp-name': headerValue(name) }),
  };
}

function versionOf({ params }: Message): string | undefined {
  const meta = params?.['_meta'] as Record<string, unknown> | undefined;
  const version = meta?.[versionKey];
  return typeof version === 'string' ? version : undefined;
}

function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
