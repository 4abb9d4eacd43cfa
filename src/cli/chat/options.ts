/** The command line of the terminal client. */
import { parseArgs } from 'node:util';

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

export const usage = `Talk to an agent in the terminal.

  npm run chat -- --as alice

  --as <user>            demo user: alice or bob (alice)
  --agent <name>         which agent to talk to (the first one)
  --conversation <id>    go on with an earlier conversation
  --url <url>            where Interlude answers (http://127.0.0.1:3000)
  --token <token>        an API token, instead of a demo user
`;

const defaultUrl = 'http://127.0.0.1:3000';

/** A token does not belong on a screen. */
export function comeBack({ as, url, token, issuer }: ChatOptions, conversation: string): string {
  const given = [
    token === undefined ? `--as ${as}` : '--token …',
    ...(url === defaultUrl ? [] : [`--url ${url}`]),
    `--conversation ${conversation}`,
  ];
  const { port } = new URL(issuer);
  const identity = token !== undefined || port === '3001' ? '' : `DEMO_IDENTITY_PORT=${port} `;
  return `${identity}npm run chat -- ${given.join(' ')}`;
}

/** `null` when help was asked for. Throws an error that says what is wrong. */
export function readOptions(args: string[], environment: NodeJS.ProcessEnv): ChatOptions | null {
  const { values } = parseArgs({
    args,
    options: {
      as: { type: 'string', default: 'alice' },
      token: { type: 'string' },
      agent: { type: 'string' },
      conversation: { type: 'string' },
      url: { type: 'string', default: `http://127.0.0.1:${environment['PORT'] ?? 3000}` },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  if (!URL.canParse(values.url)) throw new Error(`--url ${values.url} is not a URL.`);
  return {
    as: values.as,
    token: values.token,
    agent: values.agent,
    conversation: values.conversation,
    url: values.url,
    issuer: `http://127.0.0.1:${environment['DEMO_IDENTITY_PORT'] ?? 3001}`,
  };
}
