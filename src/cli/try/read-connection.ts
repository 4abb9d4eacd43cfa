/** How a server is spoken to: what the command line says of it, for every command that connects to one. */
import type { Capabilities } from '../../elicitation/capabilities.ts';
import type { Era } from '../../testing/call/read-answer.ts';
import { readDuration } from '../../tools/read-duration.ts';
import type { Duration } from '../../tools/read-duration.ts';
import { UsageError } from '../command.ts';
import type { Values } from '../command.ts';
import type { connectionOptions } from './options.ts';
import { readHeaders } from './read-headers.ts';

export interface Connection {
  era: Era | 'auto';
  capabilities: Capabilities;
  headers: Headers;
  timeoutMs: number;
  maxTimeMs: number;
}

/** Throws `UsageError`. */
export function readConnection(
  { era, can, token, header, timeout, 'max-time': maxTime }: Values<typeof connectionOptions>,
  env: NodeJS.ProcessEnv,
): Connection {
  return {
    era: readEra(era),
    capabilities: readCan(can),
    headers: withToken(readHeaders(header, '--header'), token ?? env['INTERLUDE_TRY_TOKEN']),
    timeoutMs: readTimeout('--timeout', timeout),
    maxTimeMs: readTimeout('--max-time', maxTime),
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

/** Throws `UsageError` that names the option. */
export function readTimeout(option: string, text: string): number {
  try {
    return readDuration(text as Duration);
  } catch (cause) {
    throw new UsageError(`${option} ${text} is no duration; write for example 90s.`, { cause });
  }
}
