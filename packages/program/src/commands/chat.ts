/** `interlude chat`: talk to an agent in the terminal, or read messages from a pipe, one per line. */
import { randomUUID } from 'node:crypto';
import { stderr, stdin, stdout } from 'node:process';
import { createClient } from '@interlude-ai/client/client.ts';
import { decideFrom } from '@interlude-ai/kit/answers/answer-from.ts';
import type { AnswerSource } from '@interlude-ai/kit/answers/source.ts';
import { converse } from '../chat/conversation.ts';
import { FormDrafts, draftsFolder } from '../chat/form-drafts.ts';
import { createPlainScreen } from '../chat/screen.ts';
import { TerminalScreen } from '../chat/terminal-screen.ts';
import { trouble } from '@interlude-ai/kit/terminal/wording.ts';
import { defineCommand, UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { findToken } from '../login/find-token.ts';
import { createKeptLogins, loginsFolder } from '@interlude-ai/kit/terminal/kept-files.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { readFiles } from '@interlude-ai/kit/try/answer-sources.ts';
import {
  demoUserOption,
  defaultUrl,
  readService,
  serviceOption,
} from '@interlude-ai/kit/terminal/option-values.ts';

export const chat = defineCommand({
  arguments: [],
  options: {
    as: demoUserOption,
    agent: {
      type: 'string',
      value: '<name>',
      description: 'which agent to talk to (default: the first one)',
    },
    conversation: { type: 'string', value: '<id>', description: 'go on with an earlier conversation' },
    answers: {
      type: 'strings',
      value: '<file>',
      description: 'answer questions from this file (YAML); only the others are asked',
    },
    url: serviceOption,
    token: { type: 'string', value: '<token>', description: 'an API token, instead of your login' },
  },
  details: `Messages can also come from a pipe, one per line. Without a token it uses the login of ${ourCommand('login')}; at the demo, alice.`,
  async run({ url: given, token, answers, ...rest }) {
    const url = readService(given, '--url');
    const { conversation } = rest;
    if (conversation !== undefined && !/^[A-Za-z0-9._:-]{1,128}$/.test(conversation))
      throw new UsageError(
        `--conversation "${conversation}" is no id: an id has 1–128 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-".`,
      );
    const sources = await readFiles(answers);
    try {
      return (await converseAs({ ...rest, url, token: token ?? process.env['INTERLUDE_TOKEN'] }, sources))
        ? 0
        : 1;
    } catch (error) {
      throw new Error(trouble(error instanceof Error ? error.message : String(error)), { cause: error });
    }
  },
});

async function converseAs(options: ChatOptions, sources: AnswerSource[]): Promise<boolean> {
  const { as, token, url, agent, conversation } = options;
  await checkService(url);
  const logins = createKeptLogins(loginsFolder(process.env));
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
    drafts: new FormDrafts(draftsFolder(process.env)),
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
      throw new Error(`Interlude does not answer at ${url}. Start it in another terminal with: npm start`, {
        cause,
      });
    },
  );
  await health.body?.cancel();
}

interface ChatOptions {
  /** A user of the demo. */
  as: string | undefined;
  /** Instead of the kept login. */
  token: string | undefined;
  agent: string | undefined;
  conversation: string | undefined;
  url: string;
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
