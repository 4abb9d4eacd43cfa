/** The server on the command line, and the options of the connection. */
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Era } from '../call/read-answer.ts';
import { UsageError } from '../terminal/command.ts';
import type { Values } from '../terminal/command.ts';
import { readDurationOption } from '../terminal/option-values.ts';
import type { connectionOptions } from './try-options.ts';

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
    timeoutMs: readDurationOption('--timeout', timeout),
    maxTimeMs: readDurationOption('--max-time', maxTime),
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

/** Throws `UsageError` with the name only: the value may be a secret. */
export function readHeaders(given: readonly string[], option: string): Headers {
  const headers = new Headers();
  for (const text of given) {
    const at = text.indexOf(':');
    const name = text.slice(0, Math.max(at, 0)).trim();
    try {
      headers.append(name, text.slice(at + 1).trim());
    } catch (cause) {
      throw new UsageError(`${option} ${name} cannot be sent; write "name: value".`, { cause });
    }
  }
  return headers;
}

export type Target =
  | { kind: 'http'; url: URL }
  | { kind: 'process'; command: string; args: string[]; cwd?: string };

/** Throws `UsageError`. */
export function readTarget(words: readonly string[]): Target {
  const [first = '', ...args] = words;
  if (/^[\w.-]+:\d+(\/|$)/.test(first))
    throw new UsageError(`${first} is not a URL; it begins with https:// or http://.`);
  if (!/^https?:\/\//i.test(first)) return { kind: 'process', command: first, args };
  const url = URL.parse(first);
  if (!url) throw new UsageError(`${first} is not a URL.`);
  const [surplus] = args;
  if (surplus?.startsWith('-')) throw new UsageError(`There is no option ${surplus}.`);
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many.`);
  return { kind: 'http', url };
}

/** Without secrets. */
export function targetInWords(target: Target): string {
  if (target.kind === 'process') return [target.command, ...target.args].join(' ');
  const { protocol, host, pathname } = target.url;
  return `${protocol}//${host}${pathname}`;
}

/** As a user types it. */
export function targetAsTyped(target: Target): string {
  if (target.kind === 'process') return `-- ${[target.command, ...target.args].map(quoted).join(' ')}`;
  return quoted(targetInWords(target));
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
