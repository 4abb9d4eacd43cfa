/** What time does to a server's question, and to answers whose server is away. Nothing but these tests moves the clock. */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { pageTools } from '../api/ag-ui/runs.ts';
import { connect } from '../api/ag-ui/stock-client.ts';
import { asks, form, page, startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import { callOf, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { asTurn, city, roundsAgents } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';
import { untilWaiting } from '../workflows/waiting.ts';

let environment: TestWorkflowEnvironment;
let server: ScriptedMcpServer;
let service: Service;

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());
beforeEach(async () => {
  server = await startScriptedMcpServer();
  const temporal = temporalOf(environment);
  service = await startAsking({ temporal, url: server.url, env: { INTERLUDE_CONFIG: roundsAgents } });
});
afterEach(async () => {
  await service.stop();
  await server.stop();
});

async function begin(...moves: object[]): Promise<AskedTurn> {
  server.play(...moves);
  const alice = await service.as('alice');
  return asTurn(alice, randomUUID(), (conversation) => alice.chat(callOf(['ask']), { conversation }));
}

/** From here on the clock may move. */
const waiting = (turn: AskedTurn): Promise<void> => untilWaiting({ temporal: environment }, turn);

async function toolResults({ conversation }: AskedTurn): Promise<unknown[]> {
  const messages = await service.storage.messages.list({ tenant: 'demo', conversation });
  const results = messages.filter(({ role }) => role === 'tool');
  return results.flatMap(({ content }) =>
    (content as { output: { value: unknown } }[]).map(({ output }) => output.value),
  );
}

test('a question that nobody answers is for its server what a cancel is; late answers are told so', async () => {
  const turn = await begin(asks({ one: form('One'), two: page('https://example.com/') }, 's'));
  await turn.question(1);
  await turn.answerTo('One', city('Rome'));
  await waiting(turn);
  await environment.sleep('9 minutes');
  expect(server.calls).toHaveLength(1);
  await environment.sleep('61 seconds');
  expect((await turn.end()).text).toMatch(/^done\b/);
  expect(turn.statuses().toSorted()).toEqual(['accept', 'expired']);
  expect(server.calls[1]?.params).toMatchObject({
    requestState: 's',
    inputResponses: { one: { action: 'accept', content: { city: 'Rome' } }, two: { action: 'cancel' } },
  });
  const late = turn.statuses().indexOf('expired');
  expect(await turn.answer(late, { action: 'decline' })).toMatchObject({
    status: 410,
    body: { code: 'expired' },
  });
});

test('the model reads beside the server’s result that nobody answered, and clients get that result as it was', async () => {
  const turn = await begin(asks({ one: form('One'), two: page('https://example.com/') }, 's'));
  await turn.question(1);
  await turn.answerTo('One', city('Rome'));
  await waiting(turn);
  await environment.sleep('11 minutes');
  const chunks = await turn.stream.finished();
  expect(chunks.find(({ type }) => type === 'tool-output-available')?.['output']).toEqual({
    content: [{ type: 'text', text: 'done' }],
  });
  const [read] = await toolResults(turn);
  expect(read).toMatch(/^done\n/);
  expect(read).toContain('Asking asked the user 2 questions in the middle of this call');
  expect(read).toContain('nobody answered 1 of them before the time was up');
  expect(read).toContain('the user did not dismiss anything');
});

test('what a person dismissed is not said to have expired', async () => {
  const turn = await begin(asks({ one: form('One') }, 's'));
  await turn.answer(0, { action: 'cancel' });
  await turn.end();
  expect(await toolResults(turn)).toEqual(['done']);
});

test('each round has its own ten minutes', async () => {
  const turn = await begin(asks({ one: form('One') }), asks({ two: form('Two') }));
  await turn.question(0);
  await waiting(turn);
  await environment.sleep('9 minutes');
  await turn.answer(0, city());
  const { expiresAt } = await turn.question(1);
  expect(Date.parse(expiresAt) - (await environment.currentTimeMs())).toBeGreaterThan(9 * 60_000);
  await waiting(turn);
  await environment.sleep('9 minutes');
  expect(turn.statuses()).toEqual(['accept', 'pending']);
  await turn.answer(1, city());
  expect(await turn.end()).toMatchObject({ text: 'done' });
});

test('answers whose server does not come back are given up, and the model is told what is certain', async () => {
  const turn = await begin(asks({ one: form('One') }));
  await turn.question(0);
  await server.leave();
  await turn.answer(0, city());
  // Each pause before the server is tried again begins when the try before it has failed.
  let hasEnded = false;
  const end = turn.end().finally(() => (hasEnded = true));
  while (!hasEnded) await environment.sleep('10 seconds');
  const { error } = await end;
  expect(error).toMatch(/Asking .*cannot be reached/);
  expect(error).toContain('in the middle of the call, which did not complete');
  expect(error).not.toContain('did not run');
  expect(server.calls).toHaveLength(1);
  await server.comeBack();
});

test('a call of a front-end tool has the same deadline; a later result changes nothing, and its page reads that', async () => {
  const client = await connect(service);
  const { threadId: conversation } = client;
  await client.run('call set_theme {"theme":"dark"}', { tools: pageTools });
  const [entry] = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
  await untilWaiting({ temporal: environment }, { conversation, stream: { turnId: entry?.turnId ?? '' } });
  const statuses = async () =>
    (await service.storage.elicitations.ofConversation({ tenant: 'demo', conversation })).map(
      ({ status }) => status,
    );
  await environment.sleep('9 minutes');
  expect(await statuses()).toEqual(['pending']);
  await environment.sleep('61 seconds');
  await expect.poll(statuses).toEqual(['expired']);
  client.runTools({ set_theme: 'It is dark.' });
  const late = await client.run(undefined, { tools: pageTools });
  expect(late.outcome).toBe('success');
  expect(late.events).toContainEqual(
    expect.objectContaining({
      name: 'interlude/question',
      value: expect.objectContaining({ status: 'expired' }) as object,
    }),
  );
  expect(client.texts().join()).toContain('The page sent no result of set_theme before the time was up.');
});
