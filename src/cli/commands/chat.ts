/** `interlude chat`: talk to an agent in the terminal. Also reads messages from a pipe, one per line. */
import { randomUUID } from 'node:crypto';
import { stdin, stdout, stderr } from 'node:process';
import { createClient } from '../../client/client.ts';
import { demoToken } from '../../development/demo-token.ts';
import { resumeCommand, defaultPort, defaultUrl } from '../chat/resume-command.ts';
import type { ChatOptions } from '../chat/resume-command.ts';
import { converse } from '../chat/conversation.ts';
import { createFormDrafts, draftsFolder } from '../chat/form-drafts.ts';
import { createPlainScreen } from '../chat/screen.ts';
import { TerminalScreen } from '../chat/terminal-screen.ts';
import { trouble } from '../chat/wording.ts';
import { defineCommand, UsageError } from '../command.ts';

export const chat = defineCommand({
  arguments: [],
  options: {
    as: { type: 'string', value: '<user>', description: 'demo user: alice or bob', default: 'alice' },
    agent: { type: 'string', value: '<name>', description: 'which agent to talk to (the first one)' },
    conversation: { type: 'string', value: '<id>', description: 'go on with an earlier conversation' },
    url: { type: 'string', value: '<url>', description: `where Interlude answers (${defaultUrl})` },
    token: { type: 'string', value: '<token>', description: 'an API token, instead of a demo user' },
  },
  details: 'Messages can also come from a pipe, one per line.',
  async run({ url = `http://127.0.0.1:${process.env['PORT'] ?? defaultPort}`, ...given }) {
    if (!URL.canParse(url)) throw new UsageError(`--url ${url} is not a URL.`);
    const issuer = `http://127.0.0.1:${process.env['DEMO_IDENTITY_PORT'] ?? 3001}`;
    try {
      return (await converseAs({ ...given, url, issuer })) ? 0 : 1;
    } catch (error) {
      throw new Error(trouble(error instanceof Error ? error.message : String(error)), { cause: error });
    }
  },
});

async function converseAs(options: ChatOptions): Promise<boolean> {
  const { as, token, url, issuer, agent, conversation } = options;
  await checkService(url);
  const obtainToken = () => token ?? demoToken(issuer, as);
  const first = await obtainToken();
  let isFirst = true;
  const client = createClient({
    baseUrl: url,
    token: () => {
      const given = isFirst ? first : obtainToken();
      isFirst = false;
      return given;
    },
    capabilities: { url: true, form: true },
  });
  const isInteractive = stdin.isTTY && stdout.isTTY;
  const conversationId = conversation ?? randomUUID();
  return converse({
    client,
    conversationId,
    drafts: createFormDrafts(draftsFolder(process.env)),
    resumeCommand: resumeCommand(options, conversationId),
    agentId: agent,
    who: token === undefined ? as : 'you',
    resume: conversation !== undefined,
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
