/** The options of `interlude chat`, and the command that resumes a conversation. */

export interface ChatOptions {
  /** The demo user to be. */
  as: string;
  /** Instead of a demo user's. */
  token: string | undefined;
  agent: string | undefined;
  conversation: string | undefined;
  url: string;
  /** Where demo tokens come from. */
  issuer: string;
}

export const defaultPort = 3000;
export const defaultUrl = `http://127.0.0.1:${defaultPort}`;

/** The command to type; without the token, which must not be printed. */
export function resumeCommand({ as, url, token, issuer }: ChatOptions, conversation: string): string {
  const given = [
    token === undefined ? `--as ${as}` : '--token …',
    ...(url === defaultUrl ? [] : [`--url ${url}`]),
    `--conversation ${conversation}`,
  ];
  const { port } = new URL(issuer);
  const identity = token !== undefined || port === '3001' ? '' : `DEMO_IDENTITY_PORT=${port} `;
  return `${identity}npx interlude chat ${given.join(' ')}`;
}
