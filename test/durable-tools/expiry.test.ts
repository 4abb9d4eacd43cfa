/** How long a tool's question waits: as long as the operator allows, or as its tool says where that is shorter. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { useService } from '../service/use-service.ts';
import { bundleTools } from './bundle-tools.ts';

const longestMs = 30_000;
const used = useService({
  env: { ELICITATION_TIMEOUT: `${longestMs}ms` },
  tools: { assistant: await bundleTools() },
});
let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
});

const call = (tool: string, input: object) =>
  used.alice.chat(`call ${tool} ${JSON.stringify(input)}`, { conversation });
const answer = (elicitationId: string, action: string, content?: Record<string, unknown>) =>
  used.alice.answer({ conversationId: conversation, elicitationId, action, ...(content && { content }) });

test.each([
  ['a ttl shortens the time', 300, 300],
  ['a ttl lengthens nothing', 3_600_000, longestMs],
  ['without a ttl it is the time of the turn', undefined, longestMs],
])('%s', async (_, ttl, expectedMs) => {
  const before = Date.now();
  const stream = await call('status', { ...(ttl !== undefined && { ttl }) });
  const { expiresAt } = await stream.question('pending');
  const latest = Date.now() + expectedMs;
  expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(before + expectedMs);
  expect(Date.parse(expiresAt)).toBeLessThanOrEqual(latest);
  await used.alice.cancel(conversation);
  await stream.finished();
});

test('a tool that asks again after each expiry is given an answer in the end; a late one changes nothing', async () => {
  const stream = await call('insistent', { ttl: 200, times: 2 });
  const [first, , third] = await stream.questions('pending', 3);
  const late = await answer(first?.elicitationId ?? '', 'accept', { word: 'late' });
  expect(late).toMatchObject({ status: 410, body: { code: 'expired' } });
  expect((await answer(third?.elicitationId ?? '', 'accept', { word: 'now' })).status).toBe(200);
  await stream.finished();
  expect(stream.text()).toBe('now at 3');
});
