/** Values of options that several commands have. */
import { readDuration } from '@interlude-ai/core/read-duration.ts';
import type { Duration } from '@interlude-ai/core/read-duration.ts';
import { UsageError } from './command.ts';

const defaultPort = 3000;
export const defaultUrl = `http://127.0.0.1:${defaultPort}`;

export const serviceOption = {
  type: 'string',
  value: '<url>',
  description: `the address of Interlude (default: ${defaultUrl})`,
} as const;

export const demoUserOption = {
  type: 'string',
  value: '<user>',
  description: 'a user of the demo: alice or bob',
} as const;

/** `option`: its name in errors. */
export function readService(given: string | undefined, option = '--service'): string {
  const url = given ?? `http://127.0.0.1:${process.env['PORT'] ?? defaultPort}`;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`${option} ${url} is not a URL; it begins with https:// or http://.`);
  return url;
}

/** In milliseconds. */
export function readDurationOption(option: string, text: string): number {
  try {
    return readDuration(text as Duration);
  } catch (cause) {
    throw new UsageError(`${option} ${text} is no duration; write for example 90s.`, { cause });
  }
}

export function readPort(option: string, text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`${option} ${text} is not a port.`);
  return port;
}
