/** An external Temporal: it goes away for a while, and comes back with its state. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { startTemporalServer } from '../../src/platform/development/temporal-server.ts';
import type { TemporalServer } from '../../src/platform/development/temporal-server.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { openBrowser } from '../browsers/plain-browser.ts';
import { connectAccount, signIn } from '../service/connect-account.ts';
import { lacking } from './processes.ts';
import { callsIn, expectOneStory, expectSameForNewcomer, questionsIn, say, textOf } from './watch.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;
let temporal: TemporalServer;
let startTemporal: () => Promise<TemporalServer>;

beforeAll(async () => {
  const port = await freePort();
  const uiPort = await freePort();
  deployment = await createDeployment({
    env: { TEMPORAL_ADDRESS: `127.0.0.1:${port}`, INTERLUDE_KEYS: someKeys },
  });
  startTemporal = () =>
    startTemporalServer({
      temporal: { namespace: 'default', port, uiPort },
      dataDir: `${deployment.dataDir}/temporal`,
      logger: pino({ level: 'silent' }),
    });
  temporal = await startTemporal();
  deployment.defer(() => temporal.stop());
  await deployment.start('start');
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

test("bob opens alice's link and gets nothing; alice connects, and her turn goes on", async () => {
  const alice = deployment.client('alice');
  const turn = say(alice, 'list my open issues');
  const { url, elicitationId, context } = await turn.question();

  const page = await signIn(openBrowser(), 'bob', url);
  expect(page.status).toBe(403);
  expect(page.buttons).not.toContain('Connect');
  expect(page.text).not.toContain(context.serverTitle);
  const answer = { conversationId: turn.message.conversationId, elicitationId };
  const bob = await deployment.caller('bob');
  expect(await bob.answer({ ...answer, action: 'accept' })).toMatchObject({
    status: 403,
    body: { code: 'not_your_question' },
  });
  expect(await alice.openElicitations(turn.message.conversationId)).toMatchObject([{ elicitationId }]);
  expect(deployment.tracker.requests).toBe(0);

  await connectAccount('alice', url);
  expect(await turn.end()).toMatchObject({ status: 'completed' });
  expect(deployment.tracker.calls.map(({ account }) => account)).toEqual(['alice']);
  expectOneStory(turn);

  const storage = await openStorage({ kind: 'sqlite', path: `${deployment.dataDir}/interlude/interlude.db` });
  const audit = await storage.audit.ofElicitation(elicitationId);
  await storage.close();
  expect(audit.filter(({ action }) => action === 'refused').map(({ actor }) => actor)).toEqual([
    'bob',
    'bob',
  ]);
});

test(
  'Temporal goes away and comes back: nothing starts meanwhile, and an answer and an account that come meanwhile count',
  { timeout: 120_000 },
  async () => {
    const executed = deployment.tracker.calls.length;
    const bob = deployment.client('bob');
    const turn = say(bob, 'list my open issues');
    const declined = say(bob, 'list my open issues');
    const { url } = await turn.question();
    const { elicitationId } = await declined.question();

    await temporal.stop();
    await vi.waitFor(async () => expect(await lacking(deployment.baseUrl)).toContain('temporal'));

    const caller = await deployment.caller('bob');
    const conversation = randomUUID();
    const message = { id: randomUUID(), text: 'hello' };
    const body = {
      id: conversation,
      messages: [{ id: message.id, role: 'user', parts: [{ type: 'text', text: message.text }] }],
    };
    const answer = { conversationId: declined.message.conversationId, elicitationId, action: 'decline' };
    const [refused, answered] = await Promise.all([
      caller.request('POST', '/run/api/chat', body),
      caller.answer(answer),
    ]);
    const page = await connectAccount('bob', url);
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(refused.body['detail']).toContain(
      'The workflow engine cannot be reached. It is not known whether the turn has started.',
    );
    const watching = await caller.rejoin(conversation);
    expect(answered).toMatchObject({ status: 200, body: { status: 'decline' } });
    expect(page.title).toBe('Tracker is connected');
    await turn.question('accept');
    await declined.question('decline');
    expect(deployment.tracker.calls).toHaveLength(executed);

    temporal = await startTemporal();
    expect(await turn.end()).toMatchObject({ status: 'completed' });
    expect(questionsIn(await turn.end())).toMatchObject([{ status: 'accept' }]);
    expect(callsIn(await turn.end()).at(-1)).toBe('tracker__list_issues: done');
    expect(deployment.tracker.calls).toHaveLength(executed + 1);
    expect(turn.line).toEqual([]);
    await expectSameForNewcomer(bob, turn);
    expect(await declined.end()).toMatchObject({ status: 'completed' });
    expect(questionsIn(await declined.end())).toMatchObject([{ status: 'decline' }]);

    const again = say(bob, '', { conversationId: conversation, message });
    expect(await again.end()).toMatchObject({ status: 'completed' });
    expect(textOf(await again.end())).toBe('You said: hello');
    await watching?.finished();
    expect(watching?.text()).toBe('You said: hello');
  },
);
