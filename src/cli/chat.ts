/** `npm run chat`: talk to an agent in the terminal. Also reads messages from a pipe, one per line. */
import { randomUUID } from 'node:crypto';
import { stdin, stdout, stderr } from 'node:process';
import { demoToken } from '../../demo/identity-token.ts';
import { createClient } from '../client/client.ts';
import { converse } from './chat/conversation.ts';
import { createFormDrafts, draftsFolder } from './chat/form-drafts.ts';
import { comeBack, readOptions, usage } from './chat/options.ts';
import type { ChatOptions } from './chat/options.ts';
import { createPlainScreen } from './chat/screen.ts';
import { createTerminalScreen } from './chat/terminal-screen.ts';
import { trouble } from './chat/wording.ts';

async function chat(options: ChatOptions): Promise<boolean> {
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
    comeBack: comeBack(options, conversationId),
    agentId: agent,
    who: token === undefined ? as : 'you',
    resume: conversation !== undefined,
    isInteractive,
    openScreen(keyboard) {
      if (isInteractive) return createTerminalScreen(stdin, stdout, keyboard);
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

try {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options) process.exitCode = (await chat(options)) ? 0 : 1;
  else console.log(usage);
} catch (error) {
  console.error(trouble(error instanceof Error ? error.message : String(error)));
  process.exitCode = 1;
}
