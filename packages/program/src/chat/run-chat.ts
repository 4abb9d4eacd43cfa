/** `interlude chat`, from its options to its end. */
import { randomUUID } from 'node:crypto';
import { stderr, stdin, stdout } from 'node:process';
import { createClient } from '@interlude-ai/client/client.ts';
import { decideFrom } from '@interlude-ai/kit/answers/answer-from.ts';
import type { AnswerSource } from '@interlude-ai/kit/answers/source.ts';
import { defaultUrl } from '../commands/service-options.ts';
import { findToken } from '../login/find-token.ts';
import { createKeptLogins, loginsFolder } from '@interlude-ai/kit/terminal/kept-files.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { readFiles } from '@interlude-ai/kit/try/answer-sources.ts';
import { converse } from './conversation.ts';
import { FormDrafts, draftsFolder } from './form-drafts.ts';
import { createPlainScreen } from './screen.ts';
import { TerminalScreen } from './terminal-screen.ts';
import { trouble } from './wording.ts';

interface ChatOptions {
  /** A user of the demo. */
  as?: string | undefined;
  /** Instead of the kept login. */
  token?: string | undefined;
  agent?: string | undefined;
  conversation?: string | undefined;
  /** Files. */
  answers?: string[] | undefined;
  url: string;
  env: NodeJS.ProcessEnv;
}

/** False when the conversation ended with an error. Throws `UsageError` for unusable files. */
export async function runChat(options: ChatOptions): Promise<boolean> {
  const sources = await readFiles(options.answers ?? []);
  try {
    return await converseAs(options, sources);
  } catch (error) {
    throw new Error(trouble(error instanceof Error ? error.message : String(error)), { cause: error });
  }
}

async function converseAs(options: ChatOptions, sources: AnswerSource[]): Promise<boolean> {
  const { as, token, url, agent, conversation, env } = options;
  await checkService(url);
  const logins = createKeptLogins(loginsFolder(env));
  const service = token === undefined ? serviceAddress(url) : url;
  const source = await findToken(logins, { service, token, as });
  // Fails before anything is drawn.
  await source.token();
  const client = createClient({
    baseUrl: url,
    token: () => source.token(),
    capabilities: { url: true, form: true },
  });
  const isInteractive = stdin.isTTY && stdout.isTTY;
  const conversationId = conversation ?? randomUUID();
  return converse({
    client,
    conversationId,
    drafts: new FormDrafts(draftsFolder(env)),
    resumeCommand: resumeCommand(options, conversationId),
    agentId: agent,
    who: source.who,
    resume: conversation !== undefined,
    decide: sources.length > 0 ? decideFrom(sources) : undefined,
    isInteractive,
    openScreen(keyboard) {
      if (isInteractive) return new TerminalScreen(stdin, stdout, keyboard);
      process.on('SIGINT', () => keyboard.interrupt());
      return createPlainScreen({ input: stdin, output: stdout, notes: stderr }, keyboard);
    },
  });
}

async function checkService(url: string): Promise<void> {
  const health = await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(5_000) }).catch(
    (cause: unknown) => {
      throw new Error(
        `Interlude does not answer at ${url}. Start it in another terminal, in its folder: npx interlude start`,
        {
          cause,
        },
      );
    },
  );
  await health.body?.cancel();
}

/** Without the token, which must not be printed. */
function resumeCommand({ as, url, token }: ChatOptions, conversation: string): string {
  const given = [
    ...(as === undefined ? [] : [`--as ${as}`]),
    ...(token === undefined ? [] : ['--token …']),
    ...(url === defaultUrl ? [] : [`--url ${url}`]),
    `--conversation ${conversation}`,
  ];
  return ourCommand(`chat ${given.join(' ')}`);
}
