/** A service gets ten times the turns that its worker can do: two a second, as one call of the model takes half a second. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../../src/service/api-keys.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { showOutput } from '../e2e/deployment.ts';
import type { Deployment } from '../e2e/deployment.ts';
import { createOwnDeployment } from '../operations/outages.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import { createCaller } from './user.ts';

let deployment: Deployment;
let key: string;

const form = {
  message: 'Which list?',
  schema: { type: 'object', properties: { list: { type: 'string' } }, required: ['list'] },
};

beforeAll(async () => {
  const model = await createOpenAIServer({
    async reply({ messages }) {
      const last = messages.at(-1);
      if (JSON.stringify(last?.content).includes('ask me'))
        return { kind: 'tool-calls', calls: [{ name: 'ask_user', arguments: JSON.stringify(form) }] };
      if (last?.role === 'tool') return { kind: 'text', chunks: ['Thanks.'] };
      await sleep(500);
      return { kind: 'text', chunks: ['Hello.'] };
    },
  });
  const own = await createOwnDeployment({
    WORKER_CALLS: '1',
    QUEUED_TURNS_MAX: '4',
    RATE_LIMIT_PER_MINUTE: '20',
  });
  deployment = own.deployment;
  deployment.defer(() => model.stop());
  const config = path.join(deployment.dataDir, 'agents.yaml');
  await writeFile(
    config,
    `providers: { openai-compatible: { baseURL: '${model.baseURL}' } }
agents:
  assistant: { model: 'openai-compatible:any', askUser: true }
`,
  );
  deployment.environment['INTERLUDE_CONFIG'] = config;
  await Promise.all([deployment.start('server'), deployment.start('worker')]);
  const storage = await openStorage({ kind: 'postgres', url: own.databaseUrl });
  key = await createApiKey(storage, 'demo', null, { actsForUsers: true });
  await storage.close();
}, 90_000);
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

interface Sent {
  status: number;
  retryAfter: string | null;
  text: string;
}

async function say(user: string): Promise<Sent> {
  const response = await fetch(`${deployment.baseUrl}/run/api/chat`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'x-interlude-user': user,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      id: crypto.randomUUID(),
      messages: [{ id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
    }),
  });
  const { status, headers } = response;
  return { status, retryAfter: headers.get('retry-after'), text: await response.text() };
}

test(
  'refuses starts and says when to come back, accepts answers, and cuts no stream',
  { timeout: 120_000 },
  async () => {
    const asked = createCaller(deployment.baseUrl, key, new Set(), 'asked');
    const waiting = await asked.chat('ask me', { conversation: 'asked' });
    const question = await waiting.question('pending');
    const sending: Promise<Sent>[] = [];
    const load = async (forMs: number) => {
      for (const until = Date.now() + forMs; Date.now() < until; await sleep(50)) {
        const n = sending.length;
        sending.push(say(n % 4 === 0 ? 'greedy' : `user-${n}`));
      }
    };
    await load(4_000);
    const [answer] = await Promise.all([
      asked.answer({
        conversationId: 'asked',
        elicitationId: question.elicitationId,
        action: 'accept',
        content: { list: 'errands' },
      }),
      load(4_000),
    ]);
    expect(answer).toMatchObject({ status: 200 });
    // The stream that was open before the load goes on to its end.
    expect((await waiting.finished()).at(-1)).toMatchObject({ type: 'finish' });
    expect(waiting.text()).toContain('Thanks.');

    const sent = await Promise.all(sending);
    const of = (status: number) => sent.filter((one) => one.status === status);
    expect(of(200).length + of(429).length + of(503).length).toBe(sent.length);
    expect(of(503).length).toBeGreaterThan(sent.length / 2);
    expect(of(429)).not.toHaveLength(0);
    for (const { retryAfter } of [...of(429), ...of(503)]) expect(Number(retryAfter)).toBeGreaterThan(0);
    for (const { text } of of(200)) expect(text).toContain('Hello.');
    // The queue is measured once a second.
    await expect.poll(async () => (await say('late')).status, { interval: 500 }).toBe(200);
  },
);
