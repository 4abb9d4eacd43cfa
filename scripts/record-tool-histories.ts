/**
 * Records what calls of tools in TypeScript leave in Temporal, for `test/durable-tools/replay.test.ts`: npm run
 * record-tool-histories, with `-- <call> …` for some of them only. The tools are those of `examples/tools`. `<call>.json` is
 * the turn, `<call>.tool.json` the tool.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { signCompletion } from '@interlude-ai/tools/elicit.ts';
import { turnWorkflowId } from '../src/workflows/messages.ts';
import { recordedKey } from '../test/durable-tools/histories/recorded-key.ts';
import { createDeployment } from '../test/e2e/deployment.ts';
import { freePort } from '../test/free-port.ts';
import { nthQuestion, respond } from '../test/service/asking.ts';
import type { Response } from '../test/service/asking.ts';
import type { ChatStream } from '../test/service/chat-stream.ts';
import type { ChatOptions } from '../test/service/user.ts';
import { writeHistory } from './write-history.ts';

const folder = path.join(import.meta.dirname, '../test/durable-tools/histories');
const secret = 'of the pages';
const wanted = process.argv.slice(2);

await using stack = new AsyncDisposableStack();
const temporalPort = await freePort();
const deployment = await createDeployment({
  env: {
    INTERLUDE_CONFIG: path.join(import.meta.dirname, '../test/fixtures/desk-agents.yaml'),
    INTERLUDE_KEYS: recordedKey,
    DESK_NOTEBOOK: '/dev/null',
    PAGES_SECRET: secret,
    TEMPORAL_PORT: String(temporalPort),
  },
});
stack.defer(() => deployment.stop());
const { workflow: temporal } = new Client({
  connection: Connection.lazy({ address: `127.0.0.1:${temporalPort}` }),
});
const alice = await deployment.caller('alice');

await mkdir(folder, { recursive: true });
if (wanted.length === 0)
  for (const file of await readdir(folder)) if (file.endsWith('.json')) await rm(path.join(folder, file));

const impatient = await deployment.start('start', { ELICITATION_TIMEOUT: '1s' });
await record('expired', 'call delete_page {"page":"Home"}');
await impatient.kill('SIGTERM');
const patient = await deployment.start('start');

const ada = { name: 'Ada', email: 'ada@example.com' };
const wizard = [ada, { team: 'Platform' }, { add: true }];
await record('wizard', 'call welcome_member', answers(...wizard.map(accept)));
await record('declined', 'call delete_page {"page":"Home"}', answers({ action: 'decline' }));
await record('dismissed', 'call delete_page {"page":"Home"}', answers({ action: 'cancel' }));
await record(
  'two-at-once',
  'call delete_page {"page":"Home"}\ncall delete_page {"page":"Draft"}',
  async (turn) => {
    await turn.stream.until(
      () => turn.stream.chunks.filter(({ type }) => type === 'data-elicitation-request').length > 1,
    );
    await answers(accept({ confirmed: true }), accept({ confirmed: false }))(turn);
  },
);
await record('nobody-can-be-asked', 'call plan_digest {"project":"Wiki"}', undefined, {
  supports: null,
});
await record('cancelled', 'call welcome_member', async ({ stream, conversation }) => {
  await nthQuestion(stream, 0);
  await alice.cancel(conversation);
});
await record('superseded', 'call welcome_member', async ({ stream, conversation }) => {
  await nthQuestion(stream, 0);
  await (await alice.chat('hello', { conversation })).finished();
});
await record('misfit', 'call delete_page {"page":3}');
await record('page-done', 'call pay_invoice {"invoice":"7"}', async (turn) => {
  const { elicitationId } = await nthQuestion(turn.stream, 0);
  await answers({ action: 'accept' })(turn);
  await fetch(`${deployment.baseUrl}/run/v1/elicitations/${elicitationId}/complete`, {
    method: 'POST',
    headers: { 'interlude-signature': await signCompletion({ elicitationId, secret }) },
  });
});

await patient.kill('SIGTERM');
await deployment.start('start', { DESK_APPROVAL: 'always' });
const digest = 'call plan_digest {"project":"Wiki"}';
const preferences = accept({ every: 'week', topics: ['issues'], hour: 9 });
await record('approved', digest, answers({ action: 'accept' }, preferences));
await record('approval-refused', digest, answers({ action: 'decline', reason: 'Not now.' }));
const remembering = randomUUID();
const forConversation = answers({ action: 'accept', remember: 'conversation' }, preferences);
await record('approved-for-conversation', digest, forConversation, { conversation: remembering });
await record('approved-before', digest, answers(preferences), { conversation: remembering });

interface Turn {
  stream: ChatStream;
  conversation: string;
}

async function record(
  name: string,
  words: string,
  meanwhile?: (turn: Turn) => Promise<unknown>,
  { conversation = randomUUID(), ...options }: ChatOptions = {},
): Promise<void> {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const stream = await alice.chat(words, { conversation, ...options });
  await meanwhile?.({ stream, conversation });
  await stream.finished();
  await keep(name, turnWorkflowId({ tenant: 'demo', conversation, turnId: stream.turnId }));
}

function accept(content: object): Response {
  return { action: 'accept', content };
}

function answers(...given: Response[]) {
  return async ({ stream, conversation }: Turn): Promise<void> => {
    for (const [n, response] of given.entries())
      await respond(alice, conversation, await nthQuestion(stream, n), response);
  };
}

/** The turn, and each tool in it. */
async function keep(name: string, workflowId: string): Promise<void> {
  const handle = temporal.getHandle(workflowId);
  // What a tool's workflow returns is sealed.
  await handle.result().catch(() => undefined);
  const history = await handle.fetchHistory();
  await writeHistory(path.join(folder, `${name}.json`), history);
  const children = (history.events ?? []).flatMap(
    ({ startChildWorkflowExecutionInitiatedEventAttributes: child }) => child?.workflowId ?? [],
  );
  for (const [index, child] of children.entries())
    await keep(`${name}.tool${children.length > 1 ? index + 1 : ''}`, child);
  console.log(`${name}: ${history.events?.length} events`);
}
