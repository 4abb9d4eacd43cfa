/** The options of `interlude chat`, and the command that resumes a conversation. */
import { programCommand } from '../program-command.ts';

export interface ChatOptions {
  /** The demo user to be. */
  as: string | undefined;
  /** Instead of that of a kept login. */
  token: string | undefined;
  agent: string | undefined;
  conversation: string | undefined;
  url: string;
}

export const defaultPort = 3000;
export const defaultUrl = `http://127.0.0.1:${defaultPort}`;

/** The command to type; without the token, which must not be printed. */
export function resumeCommand({ as, url, token }: ChatOptions, conversation: string): string {
  const given = [
    ...(as === undefined ? [] : [`--as ${as}`]),
    ...(token === undefined ? [] : ['--token …']),
    ...(url === defaultUrl ? [] : [`--url ${url}`]),
    `--conversation ${conversation}`,
  ];
  return `${programCommand()} chat ${given.join(' ')}`;
}
