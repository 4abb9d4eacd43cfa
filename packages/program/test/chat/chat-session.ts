/** A session of the terminal client: what a person types and what the screen shows. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { FormDrafts } from '../../src/chat/form-drafts.ts';
import { converse } from '../../src/chat/conversation.ts';
import type { Keyboard, Screen } from '../../src/chat/screen.ts';
import type { Decide } from '@interlude-ai/kit/answers/answer-from.ts';
import { createClient } from '@interlude-ai/client/client.ts';
import { silentScreen } from '../../../client/test/printed-text.ts';
import { beginStream, startStreamServer, toEvents } from '../../../client/test/stream-server.ts';
import type { Reply } from '../../../client/test/stream-server.ts';

export type ChatSession = Awaited<ReturnType<typeof startChatSession>>;

/** Ends with the test. `drafts`: the folder where forms are kept; one that is removed afterwards unless given. */
export async function startChatSession(
  reply: Reply,
  { resume = false, drafts: given, decide }: { resume?: boolean; drafts?: string; decide?: Decide } = {},
) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const drafts = given ?? path.join(tmpdir(), randomUUID());
  if (given === undefined) stack.defer(() => rm(drafts, { recursive: true, force: true }));
  const server = await startStreamServer(reply);
  stack.defer(() => server.stop());
  const timing = { firstRetryMs: 1, lastRetryMs: 4 };
  const capabilities = { url: true, form: true };
  const client = createClient({ baseUrl: server.url, token: 'secret', capabilities, timing });
  let text = '';
  let discards = 0;
  let render = () => '';
  let keyboard: Keyboard | undefined;
  const line = (words: string) => {
    if (text !== '' && !text.endsWith('\n')) text += '\n';
    text += `${words}\n`;
  };
  const screen: Screen = {
    ...silentScreen,
    text: (words) => void (text += words),
    line,
    note: line,
    prompt: (next) => void (render = next),
    discard: () => void (discards += 1),
  };
  const left = converse({
    client,
    conversationId: 'c1',
    agentId: undefined,
    who: 'alice',
    drafts: new FormDrafts(drafts),
    resumeCommand: 'npx interlude chat --conversation c1',
    resume,
    isInteractive: true,
    decide,
    openScreen(hands) {
      keyboard = hands;
      return screen;
    },
  });
  if (!keyboard) throw new Error('The screen was not opened.');
  stack.defer(() => keyboard?.end());
  const plain = () => stripVTControlCharacters(text);
  return {
    keyboard,
    /** The screen, without blank lines. */
    screen: () =>
      plain()
        .split('\n')
        .filter((words) => words.trim() !== ''),
    /** How often what was being typed was thrown away. */
    discards: () => discards,
    bottomLine: () => stripVTControlCharacters(render()),
    sees: (words: string) => expect.poll(plain).toContain(words),
    server,
    left,
  };
}

const textIn = (body: unknown) => JSON.stringify(body);

/** The first turn asks; the test says how it goes on. */
export function waitingTurn(
  asking: object[],
  then: Reply,
): { reply: Reply; goOn: (chunks: object[]) => void; end: () => void } {
  let stream: Parameters<Reply>[0] | undefined;
  return {
    reply(response, nth, path, body) {
      if (path !== '/run/api/chat' || !textIn(body).includes('List my issues'))
        return then(response, nth, path, body);
      stream = response;
      beginStream(response);
      response.write(toEvents(asking));
    },
    goOn: (chunks) => void stream?.write(toEvents(chunks)),
    end: () => void stream?.end(),
  };
}
