/** Up to 2025-11-25, only the client that was asked to open a page is notified when it is done. */
import { beforeEach, expect, test } from 'vitest';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';
import type { AskedOfUser } from './clients/other-client.ts';
import { startSdkV1 } from './clients/typescript-clients.ts';
import { noteKeptReplies } from './kept-replies.ts';

const { kept, around } = noteKeptReplies();
const used = useService({ around });
beforeEach(() => used.alice.request('DELETE', '/run/v1/connections/tracker'));

/** A program of Alice's that agrees to the link, and then waits for the page. */
async function startProgram() {
  const asked: AskedOfUser[] = [];
  const pagesDone: string[] = [];
  const isAsked = Promise.withResolvers<AskedOfUser>();
  const client = await startSdkV1({
    url: `${used.service.baseUrl}/run/v1/mcp`,
    token: await used.service.token('alice'),
    shows: { form: true, url: true },
    answer(question) {
      asked.push(question);
      isAsked.resolve(question);
      return Promise.resolve({ action: 'accept' });
    },
    onPageDone: (elicitationId) => void pagesDone.push(elicitationId),
  });
  return { client, asked, pagesDone, isAsked: isAsked.promise };
}

const idIn = ({ url = '' }: AskedOfUser) => /e=([\w-]+)/.exec(url)?.[1] ?? url;
const list = { message: 'list my open issues' };

test('two programs of one user are each told of their own page, and a third of none', async () => {
  const [first, second, idle] = [await startProgram(), await startProgram(), await startProgram()];
  await using stack = new AsyncDisposableStack();
  for (const { client } of [first, second, idle]) stack.use(client);
  expect(await idle.client.call('list_my_questions', {})).toMatchObject({ text: 'No question is open.' });
  const calls = [first.client.call('ask_assistant', list), second.client.call('ask_assistant', list)];
  const questions = [await first.isAsked, await second.isAsked];
  for (const question of questions) await expect.poll(() => kept).toContain(idIn(question));
  await connectAccount('alice', questions[0]?.url ?? '');
  for (const { text } of await Promise.all(calls)) expect(text).toMatch(/^Here they are: /);
  expect([first, second, idle].map(({ pagesDone }) => pagesDone)).toEqual([
    ...questions.map((question) => [idIn(question)]),
    [],
  ]);
});
