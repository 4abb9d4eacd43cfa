/** Pages of tools that report that they are done: signed by hand and by `signCompletion`, at the API without a worker. */
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSignedReport } from '../../../src/service/complete-page.ts';
import { signCompletion } from '../src/elicit.ts';
import { ask, beginTurn, startApi } from '../../../test/api/api-under-test.ts';
import type { ApiUnderTest } from '../../../test/api/api-under-test.ts';
import { endQuestion } from '../../../test/storage/end-question.ts';

const secret = 'a secret of the pages';
let api: ApiUnderTest;
let folder: string;
let secretFile: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-pages-'));
  const agents = path.join(folder, 'agents.yaml');
  secretFile = path.join(folder, 'pages-secret');
  await writeFile(secretFile, secret);
  await writeFile(
    agents,
    `providers: { scripted: { script: ./script.ts } }
agents:
  assistant: { model: scripted, tools: { folder: ., completionSecretEnv: PAGES_SECRET } }
  other: { model: scripted, tools: { folder: ., completionSecretEnv: OTHER_SECRET } }
  bare: { model: scripted, tools: { folder: . } }
`,
  );
  api = await startApi({
    env: { INTERLUDE_CONFIG: agents, PAGES_SECRET_FILE: secretFile, OTHER_SECRET: 'another secret' },
  });
});
afterAll(async () => {
  await api.stop();
  await rm(folder, { recursive: true });
});

let count = 0;
/** A question of a tool that sends alice to a page. */
async function pageQuestion({ agent = 'assistant', trigger = 'tool_elicitation' as const } = {}) {
  const id = `question-of-page-${++count}`;
  const turn = await beginTurn(api.storage, `page-${count}`, agent);
  await ask(api.storage, turn, {
    id,
    agent,
    isReported: true,
    request: {
      mode: 'url',
      message: 'Pay',
      url: 'https://pay.example.com/1',
      context: { agent, trigger, toolName: 'pay', toolCallId: 'c1' },
    },
    server: null,
    seenVersion: null,
  });
  return id;
}

function complete(id: string, signature: string | undefined, body = '') {
  return api.app.inject({
    method: 'POST',
    url: `/run/v1/elicitations/${id}/complete`,
    headers: { 'content-type': 'application/json', ...(signature && { 'interlude-signature': signature }) },
    payload: body,
  });
}

describe('a page that reports', () => {
  test('is believed by its signature, and told what became of its question, without Temporal', async () => {
    const elicitationId = await pageQuestion();
    const body = '{"paid":true}';
    const response = await complete(
      elicitationId,
      await signCompletion({ elicitationId, secret, body }),
      body,
    );
    expect([response.statusCode, response.json()]).toEqual([
      200,
      { elicitationId, status: 'accept', duplicate: false },
    ]);
    expect(await api.storage.audit.ofElicitation(elicitationId)).toMatchObject([
      { action: 'answered', actor: null, detail: 'page done' },
    ]);
  });

  test('may report again: it is told what it was told before', async () => {
    const elicitationId = await pageQuestion();
    const signature = await signCompletion({ elicitationId, secret });
    await endQuestion(api.storage, elicitationId, 'accept');
    for (const _ of [1, 2]) {
      const response = await complete(elicitationId, signature);
      expect(response.statusCode).toBe(200);
      expect(response.json()).toEqual({ elicitationId, status: 'accept', duplicate: true });
    }
  });

  test.each([
    ['decline', 409, 'already_answered'],
    ['expired', 410, 'expired'],
    ['cancel', 410, 'turn_over'],
  ] as const)('learns that it comes too late: %s', async (outcome, status, code) => {
    const elicitationId = await pageQuestion();
    await endQuestion(api.storage, elicitationId, outcome);
    const response = await complete(elicitationId, await signCompletion({ elicitationId, secret }));
    expect([response.statusCode, response.json().code]).toEqual([status, code]);
  });
});

test('the secret in the file changes: a page that signs with both is believed before and after, without a restart', async () => {
  const report = async (signedWith: string | string[]) => {
    const elicitationId = await pageQuestion();
    const signature = await signCompletion({ elicitationId, secret: signedWith });
    return (await complete(elicitationId, signature)).statusCode;
  };
  const fresh = 'a secret of tomorrow';
  expect(await report([secret, fresh])).toBe(200);
  expect(await report(fresh)).toBe(401);
  await writeFile(secretFile, fresh);
  expect(await report([secret, fresh])).toBe(200);
  expect(await report(fresh)).toBe(200);
  expect(await report(secret)).toBe(401);
  await writeFile(secretFile, secret);
});

describe('a report is refused', () => {
  const minute = 60_000;
  test.each([
    ['without a signature', async () => undefined],
    ['with another secret', (elicitationId: string) => signCompletion({ elicitationId, secret: 'guessed' })],
    ['of another question', async () => signCompletion({ elicitationId: await pageQuestion(), secret })],
    ['of another body', (elicitationId: string) => signCompletion({ elicitationId, secret, body: '{}' })],
    [
      'that is stale',
      (elicitationId: string) => signCompletion({ elicitationId, secret, at: Date.now() - 6 * minute }),
    ],
    [
      'from the future',
      (elicitationId: string) => signCompletion({ elicitationId, secret, at: Date.now() + 6 * minute }),
    ],
    ['with a signature of nothing', async () => 't=1,v1='],
  ])('%s', async (_, sign) => {
    const id = await pageQuestion();
    const response = await complete(id, await sign(id));
    expect([response.statusCode, response.json().code]).toEqual([401, 'unauthenticated']);
    expect((await api.storage.elicitations.get(id))?.status).toBe('pending');
    expect(await api.storage.audit.ofElicitation(id)).toMatchObject([{ action: 'refused', actor: null }]);
  });
});

describe('a report is refused, and nobody learns why,', () => {
  test.each([
    ['of a question that there is not', async () => 'no-such-question'],
    ['of a question of another agent, whose secret differs', () => pageQuestion({ agent: 'other' })],
    ['of an agent without a secret', () => pageQuestion({ agent: 'bare' })],
  ])('%s', async (_, ask) => {
    const { app } = api;
    const elicitationId = await ask();
    const response = await app.inject({
      method: 'POST',
      url: `/run/v1/elicitations/${elicitationId}/complete`,
      remoteAddress: '10.0.0.9',
      headers: { 'interlude-signature': await signCompletion({ elicitationId, secret }) },
    });
    expect([response.statusCode, response.json().code]).toEqual([401, 'unauthenticated']);
  });

  test('an empty secret signs nothing', async () => {
    const elicitationId = await pageQuestion({ agent: 'bare' });
    const time = Math.floor(Date.now() / 1000);
    const v1 = createHmac('sha256', '').update(`${time}.${elicitationId}.`).digest('hex');
    expect((await complete(elicitationId, `t=${time},v1=${v1}`)).statusCode).toBe(401);
  });
});

describe('a signature', () => {
  const report = { elicitationId: 'e1', body: Buffer.from('{"a":1}') };
  const at = 1_800_000_000_000;
  const sign = (more: object = {}) =>
    signCompletion({ elicitationId: 'e1', secret, body: '{"a":1}', at, ...more });

  test('counts for five minutes to either side', async () => {
    const signature = await sign();
    const counts = [-301, -300, 0, 300, 301].map((seconds) =>
      isSignedReport(secret, { ...report, signature }, at + seconds * 1000),
    );
    expect(counts).toEqual([false, true, true, true, false]);
  });

  test('may be given twice, while a secret is being replaced', async () => {
    const signature = await sign({ secret: ['old', secret] });
    for (const known of ['old', secret])
      expect(isSignedReport(known, { ...report, signature }, at)).toBe(true);
    expect(isSignedReport('older', { ...report, signature }, at)).toBe(false);
  });

  test('whose time was changed counts no more', async () => {
    const signature = (await sign()).replace('t=1800000000', 't=1800000001');
    expect(isSignedReport(secret, { ...report, signature }, at)).toBe(false);
    const twice = `t=1800000001,${await sign()}`;
    expect(isSignedReport(secret, { ...report, signature: twice }, at)).toBe(false);
  });
});
