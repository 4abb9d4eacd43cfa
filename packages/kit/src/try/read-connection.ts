/** The server on the command line, and the options of the connection. */
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Era } from '../call/read-answer.ts';
import { UsageError } from '../terminal/command.ts';

export interface Connection {
  era: Era | 'auto';
  capabilities: Capabilities;
  headers: Headers;
  timeoutMs: number;
  maxTimeMs: number;
}

/** As the command line gives them. */
export interface ConnectionValues {
  timeout: number;
  maxTime: number;
  era: Era | 'auto';
  can: Capabilities;
  token?: string | undefined;
  clientId?: string | undefined;
  header?: string[] | undefined;
  json?: boolean | undefined;
}

/** Throws `UsageError`. */
export function readConnection(
  { era, can, token, header = [], timeout, maxTime }: ConnectionValues,
  env: NodeJS.ProcessEnv,
): Connection {
  return {
    era,
    capabilities: can,
    headers: withToken(readHeaders(header, '--header'), token ?? env['INTERLUDE_TRY_TOKEN']),
    timeoutMs: timeout,
    maxTimeMs: maxTime,
  };
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
