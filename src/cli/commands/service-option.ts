/** Which service a command of a client speaks to. */
import { defaultPort, defaultUrl } from '../chat/resume-command.ts';
import { UsageError } from '../command.ts';

export const serviceOption = {
  type: 'string',
  value: '<url>',
  description: `where Interlude answers (${defaultUrl})`,
} as const;

/** `option`: as what it was given. */
export function readService(given: string | undefined, option = '--service'): string {
  const url = given ?? `http://127.0.0.1:${process.env['PORT'] ?? defaultPort}`;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`${option} ${url} is not a URL; it begins with https:// or http://.`);
  return url;
}
