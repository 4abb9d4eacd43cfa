/**
 * Records what turns of every shape leave in Temporal, for `test/workflows/replay.test.ts`: npm run record-histories,
 * with `-- <shape> …` for some of them only. The whole service runs for it as `npm start` runs it, with the clients and
 * people of the end-to-end tests.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { freePort } from '../test/free-port.ts';
import { searchAttributes, turnWorkflowId } from '../src/workflows/messages.ts';
import { envOf } from '../test/connections/service-with-nango.ts';
import { createDeployment } from '../test/e2e/deployment.ts';
import { startAskingServer } from '../test/servers/asking-server.ts';
import { openBrowser } from '../test/browsers/plain-browser.ts';
import { createEventStore } from '../test/servers/event-store.ts';
import { openNangoUnderTest } from '../test/servers/nango/nango-under-test.ts';
import { openProtectedMcp } from '../test/servers/nango/protected-mcp.ts';
import { startPushingServer } from '../test/servers/pushing-server.ts';
import { createOpenAIServer } from '../test/servers/openai-server.ts';
import { nthQuestion, respond } from '../test/service/asking.ts';
import type { Response } from '../test/service/asking.ts';
import type { ChatStream } from '../test/service/chat-stream.ts';
import { connectAccount, signIn } from '../test/service/connect-account.ts';
import type { ChatOptions } from '../test/service/user.ts';
import type { Fault } from '../test/servers/slack/chat.ts';
import { startSlackAnswers } from './answer-in-slack.ts';
import { deliverToFailing } from './deliver-to-failing.ts';
import { writeHistory } from './write-history.ts';

const folder = path.join(import.meta.dirname, '../test/workflows/histories');
const listing = 'list my open issues';
const wanted = process.argv.slice(2);
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);

await using stack = new AsyncDisposableStack();
const model = await createOpenAIServer({ reply: () => ({ kind: 'status', status: 401 }) });
stack.defer(() => model.stop());
const temporalPort = await freePort();
const [rounds, held, detached, pages] = await Promise.all([
  startAskingServer({ era: 'modern' }),
  startAskingServer({ era: 'legacy' }),
  startAskingServer({ era: 'legacy', eventStore: createEventStore() }),
  startPushingServer(),
]);
for (const server of [rounds, held, detached, pages]) stack.defer(() => server.stop());
const deployment = await createDeployment({
  env: {
    MODEL_URL: model.baseURL,
    TEMPORAL_PORT: String(temporalPort),
    ROUNDS_URL: rounds.config.url,
    HELD_URL: held.config.url,
    DETACHED_URL: detached.config.url,
    PAGES_URL: pages.config.url,
  },
});
stack.defer(() => deployment.stop());
const { workflow: temporal } = new Client({
  connection: Connection.lazy({ address: `127.0.0.1:${temporalPort}` }),
});
const [alice, bob] = [await deployment.caller('alice'), await deployment.caller('bob')];

await mkdir(folder, { recursive: true });
if (wanted.length === 0)
  for (const file of await readdir(folder)) if (file.endsWith('.json')) await rm(path.join(folder, file));

const asked = { agentId: 'asked' };
const impatient = await deployment.start('start', { ELICITATION_TIMEOUT: '1s' });
await turn('question-expired', bob, listing);
await turn('server-question-expired', bob, 'call rounds__book {"city":"Oslo"}', undefined, asked);
await impatient.kill('SIGTERM');
const embedded = await deployment.start('start');

// The first to connect makes the tools known; until then a turn needs a step of its own for it.
await turn('question-connected', alice, listing, connectAs('alice'));
await turn('question-declined', bob, listing, answerAs('decline'));
await turn('question-dismissed', bob, listing, answerAs('cancel'));
await turn('cancelled-while-waiting', bob, listing, hangUp);
await turn('nobody-can-be-asked', bob, listing, undefined, { supports: null });
await turn('two-calls-one-question', bob, 'list open and closed', connectAs('bob'));
await turn('plain-answer', alice, 'hello');
await turn('tool-without-question', alice, listing);
await turn('max-steps', alice, 'go round in circles');
const hold = deployment.tracker.faults.hold('before');
await turn('cancelled-while-a-tool-runs', alice, listing, async (_, conversation) => {
  await hold.arrived;
  await alice.cancel(conversation);
  hold.release();
});
const lead = { agentId: 'lead' };
const handedOn = 'ask the editor to ask the researcher to list my open issues';
await turn('task-for-two', alice, 'ask two researchers', undefined, lead);
await turn('task-not-finished', alice, 'ask the researcher to go round in circles', undefined, lead);
deployment.tracker.revoke('bob');
await turn('task-handed-on', bob, handedOn, connectAs('bob'), lead);
deployment.tracker.revoke('bob');
await turn('task-cancelled', bob, handedOn, hangUp, lead);
const sayMore: Meanwhile = async (stream, conversation) => {
  await stream.question('pending');
  await (await bob.chat('hello', { conversation })).finished();
};
await turn('task-superseded', bob, 'ask the researcher to list my open issues', sayMore, lead);
await turn('task-handed-on-superseded', bob, handedOn, sayMore, lead);
const twoTasks = [
  'call agent__researcher {"task":"list my open issues"}',
  'call agent__editor {"task":"ask the researcher to list my closed issues"}',
].join('\n');
await turn('task-shared-account', bob, twoTasks, connectAs('bob'), lead);
deployment.tracker.revoke('bob');
await turn('connected-again', bob, listing, connectAs('bob'));

const bookRome = 'call rounds__book {"city":"Rome"}';
for (const server of ['rounds', 'held', 'detached']) {
  await turn(`${server}-wizard`, alice, `call ${server}__wizard`, fillIn(3), asked);
  await turn(`${server}-two-questions`, alice, `call ${server}__compare`, fillIn(2), asked);
  const closed: Meanwhile = async (stream, conversation) => {
    await nthQuestion(stream, 0);
    await alice.cancel(conversation);
  };
  await turn(`${server}-cancelled`, alice, `call ${server}__book {"city":"Rome"}`, closed, asked);
}
const superseded: Meanwhile = async (stream, conversation) => {
  await nthQuestion(stream, 0);
  await (await alice.chat('hello', { conversation, ...asked })).finished();
};
await turn('detached-superseded', alice, 'call detached__book {"city":"Rome"}', superseded, asked);
await turn('page-declined', alice, 'call pages__gate', answerEach({ action: 'decline' }), asked);
const done: Meanwhile = async (stream) => {
  await nthQuestion(stream, 0);
  await pages.listenedSinceCall();
  await pages.finishPage();
};
await turn('page-done', alice, 'call pages__gate', done, asked);
await turn('task-with-a-question', alice, `ask the asked to ${bookRome}`, fillIn(1), { agentId: 'asker' });

const failing = randomUUID();
const { body: failed } = await alice.request('POST', '/run/api/chat', {
  id: failing,
  agentId: 'writer',
  stream: false,
  messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
});
if (isWanted('failed-model')) await keep('failed-model', rootOf(failing, String(failed['turnId'])));

// From here on accounts are kept elsewhere, and nobody tells of a new one: it is looked for.
const nango = await openNangoUnderTest();
stack.defer(() => nango.stop());
const kept = await openProtectedMcp(nango.provider);
stack.defer(() => kept.stop());
await embedded.kill('SIGTERM');
const keptElsewhere = envOf(nango, kept);
const hasty = await deployment.start('start', { ...keptElsewhere, ELICITATION_TIMEOUT: '1s' });
await turn('kept-elsewhere-expired', bob, listing);
await hasty.kill('SIGTERM');
const elsewhere = await deployment.start('start', keptElsewhere);
await turn('kept-elsewhere-declined', bob, listing, answerAs('decline'));
await turn('kept-elsewhere-connected', alice, listing, async (stream) => {
  const browser = openBrowser();
  const page = await signIn(browser, 'alice', (await stream.question('pending')).url);
  await browser.press(await browser.press(page, 'Connect Tracker'), 'Allow', { person: 'alice' });
});

await elsewhere.kill('SIGTERM');
const approving = await deployment.start('start', { ROUNDS_APPROVAL: 'always' });
// Its tools are learnt.
await (await alice.chat('hello', asked)).finished();
const remembering = { ...asked, conversation: randomUUID() };
await turn('approval-refused', alice, bookRome, answerEach({ action: 'decline', reason: 'Not now.' }), asked);
await turn('approval-dismissed', alice, bookRome, answerEach({ action: 'cancel' }), asked);
const nights = { action: 'accept', content: { nights: 1 } };
await turn('approved', alice, bookRome, answerEach({ action: 'accept' }, nights), asked);
const forConversation = answerEach({ action: 'accept', remember: 'conversation' }, nights);
await turn('approved-for-conversation', alice, bookRome, forConversation, remembering);
await turn('approved-before', alice, bookRome, answerEach(nights), remembering);

await approving.kill('SIGTERM');
const pushing = await deployment.start('start', { A2A_PUSH_TARGETS: 'local', A2A_PUSH_DEADLINE: '1s' });
for (const [name, failures] of [
  ['push-delivered', 1],
  ['push-given-up', 20],
] as const)
  if (isWanted(name)) await keep(name, await deliverToFailing({ deployment, temporal }, failures));

await pushing.kill('SIGTERM');
deployment.tracker.revoke('bob');
const inSlack = await startSlackAnswers({ deployment, temporal });
const isArchived = { kind: 'refused', code: 'is_archived' } as const;
for (const [name, ...faults] of [
  ['slack-delivered'],
  ['slack-limited-and-away', { kind: 'limited', seconds: 1 }, { kind: 'down' }],
  ['slack-impossible', ...Array.from({ length: 30 }, () => isArchived)],
] as [string, ...Fault[]][])
  if (isWanted(name)) await keep(name, await inSlack.ask(...faults));

type Meanwhile = (stream: ChatStream, conversation: string) => Promise<unknown>;

async function turn(
  name: string,
  caller: typeof alice,
  words: string,
  meanwhile?: Meanwhile,
  options?: ChatOptions,
): Promise<void> {
  if (!isWanted(name)) return;
  const { conversation = randomUUID() } = options ?? {};
  const stream = await caller.chat(words, { ...options, conversation });
  await meanwhile?.(stream, conversation);
  await stream.finished();
  await keep(name, rootOf(conversation, stream.turnId));
}

async function hangUp(stream: ChatStream, conversation: string): Promise<void> {
  await stream.question('pending');
  await bob.cancel(conversation);
}

function connectAs(user: 'alice' | 'bob'): Meanwhile {
  return async (stream) => connectAccount(user, (await stream.question('pending')).url);
}

function answerAs(action: string): Meanwhile {
  return async (stream, conversationId) => {
    const { elicitationId } = await stream.question('pending');
    await bob.answer({ conversationId, elicitationId, action });
  };
}

function fillIn(questions: number): Meanwhile {
  return async (stream, conversation) => {
    for (let n = 0; n < questions; n++) {
      const content = { nights: n + 1 };
      await respond(alice, conversation, await nthQuestion(stream, n), { action: 'accept', content });
    }
  };
}

function answerEach(...responses: Response[]): Meanwhile {
  return async (stream, conversation) => {
    for (const [n, response] of responses.entries())
      await respond(alice, conversation, await nthQuestion(stream, n), response);
  };
}

function rootOf(conversation: string, turnId: string): string {
  return turnWorkflowId({ tenant: 'demo', conversation, turnId });
}

/** The turn as `<name>.json`, and each agent that had a task in it as `<name>.<agent>.json`. */
async function keep(name: string, workflowId: string): Promise<void> {
  const handle = temporal.getHandle(workflowId);
  const { status } = (await handle.result()) as { status: string };
  const history = await handle.fetchHistory();
  await writeHistory(path.join(folder, `${name}.json`), history);
  console.log(`${name}: ${status}`);
  for (const { startChildWorkflowExecutionInitiatedEventAttributes: child } of history.events ?? []) {
    if (!child?.workflowId) continue;
    const { typedSearchAttributes } = await temporal.getHandle(child.workflowId).describe();
    await keep(`${name}.${typedSearchAttributes.get(searchAttributes.agent)}`, child.workflowId);
  }
}
