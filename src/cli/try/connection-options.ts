/** How a server is spoken to: what the command line says of it, for every command that connects to one. */
import type { Capabilities } from '../../elicitation/capabilities.ts';
import type { Era } from '../../testing/call/read-answer.ts';
import { readDuration } from '../../tools/read-duration.ts';
import type { Duration } from '../../tools/read-duration.ts';
import { UsageError } from '../command.ts';
import type { Options, Values } from '../command.ts';
import { readHeaders } from './read-headers.ts';

export const connectionOptions = {
  timeout: {
    type: 'string',
    value: '<duration>',
    description: 'how long the server may say nothing',
    default: '60s',
  },
  era: {
    type: 'string',
    value: '<auto | modern | legacy>',
    description: 'which MCP to speak',
    default: 'auto',
  },
  can: {
    type: 'string',
    value: '<form,url>',
    description: 'which questions the server is told it may ask: form,url, form, url or none',
    default: 'form,url',
  },
  token: {
    type: 'string',
    value: '<token>',
    description: 'for a server that wants one (INTERLUDE_TRY_TOKEN)',
  },
  'client-id': {
    type: 'string',
    value: '<id>',
    description: 'who this program is where one signs in, if it may not register itself',
  },
  header: { type: 'strings', value: '<name: value>', description: 'sent with every request' },
} as const satisfies Options;

export interface Connection {
  era: Era | 'auto';
  capabilities: Capabilities;
  headers: Headers;
  timeoutMs: number;
}

/** Throws `UsageError`. */
export function readConnection(
  { era, can, token, header, timeout }: Values<typeof connectionOptions>,
  env: NodeJS.ProcessEnv,
): Connection {
  return {
    era: readEra(era),
    capabilities: readCan(can),
    headers: withToken(readHeaders(header, '--header'), token ?? env['INTERLUDE_TRY_TOKEN']),
    timeoutMs: readTimeout(timeout),
  };
}

function readEra(text: string): 'auto' | 'modern' | 'legacy' {
  if (text === 'auto' || text === 'modern' || text === 'legacy') return text;
  throw new UsageError(`--era ${text} is none; there is auto, modern (2026-07-28) and legacy.`);
}

function readCan(text: string): { form: boolean; url: boolean } {
  const words = text === 'none' ? [] : text.split(',').map((word) => word.trim());
  const unknown = words.find((word) => word !== 'form' && word !== 'url');
  if (unknown !== undefined) throw new UsageError(`--can ${text}: there is form, url and none.`);
  return { form: words.includes('form'), url: words.includes('url') };
}

function withToken(headers: Headers, token: string | undefined): Headers {
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  return headers;
}

function readTimeout(text: string): number {
  try {
    return readDuration(text as Duration);
  } catch (cause) {
    throw new UsageError(`--timeout ${text} is no duration; write for example 90s.`, { cause });
  }
}
