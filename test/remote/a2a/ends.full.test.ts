/** What ends a question or a task of a remote agent from outside of it: a newer message, a refused account, deadlines, a page. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { asTurn } from '../../asking/asking-service.ts';
import { openBrowser } from '../../browsers/plain-browser.ts';
import { startScriptedAgent } from '../../servers/scripted-agent.ts';
import type { ScriptedAgent } from '../../servers/scripted-agent.ts';
import { startRawAgent, task } from '../../servers/raw-agent.ts';
import type { Answer, Asked, RawAgent } from '../../servers/raw-agent.ts';
import { signIn } from '../../service/connect-account.ts';
import { useService } from '../../service/use-service.ts';
import { idOf } from '../../workflows/waiting.ts';

const extension = 'urn:interlude:a2a:elicitation:v1';
let agent: ScriptedAgent;
let keyed: RawAgent;
let hurried: RawAgent;

const { temporal, service, alice } = useService({
  async needs(stack) {
    agent = await startScriptedAgent();
    stack.defer(() => agent.stop());
    keyed = stack.use(await startRawAgent({ answer: wantsAnotherKey }));
    hurried = stack.use(await startRawAgent({ answer: asksForASecond, card: withExtension }));
    return {
      env: {
        INTERLUDE_CONFIG: fileURLToPath(new URL('../../fixtures/remote-ends-agents.yaml', import.meta.url)),
        PLAYING_CARD: agent.card,
        KEYED_CARD: keyed.card,
        HURRIED_CARD: hurried.card,
      },
    };
  },
});

/** Takes the task with the first key, and tells of it to the second only. */
function wantsAnotherKey({ method, headers }: Asked): Answer {
  const key = headers['x-api-key'];
  if (method === 'SendMessage') return { result: { task: task('WORKING') } };
  return key === 'second-key' ? { result: task('COMPLETED', { text: 'Booked.' }) } : 401;
}

let hasAnswer = false;
/** Waits a little more than a second for an answer. */
function asksForASecond({ method, params }: Asked): Answer {
  const { taskId } = (params['message'] ?? {}) as { taskId?: string };
  if (method === 'SendMessage' && taskId) hasAnswer = true;
  const now = hasAnswer ? task('COMPLETED', { text: 'Nobody said.' }) : asking();
  return { result: method === 'SendMessage' ? { task: now } : now };
}

let expiresAt: string | undefined;
function asking() {
  expiresAt ??= new Date(Date.now() + 3_000).toISOString();
  const asked = task('INPUT_REQUIRED', { text: 'Which city?' });
  const question = {
    elicitationId: 'theirs',
    mode: 'form',
    message: 'Which city?',
    requestedSchema: { type: 'object', properties: { city: { type: 'string' } } },
    expiresAt,
  };
  const message = { ...asked.status.message, extensions: [extension], metadata: { [extension]: question } };
  return { ...asked, status: { ...asked.status, message } };
}

function withExtension(card: Record<string, unknown>) {
  return { ...card, capabilities: { streaming: false, extensions: [{ uri: extension }] } };
}

const ask = (name: string, words: string, conversation: string = randomUUID()) =>
  asTurn(alice, conversation, (id) => alice.chat(`ask the ${name} to ${words}`, { conversation: id }));

test('a newer message takes the place of a task that waits for an answer, and the remote task is cancelled', async () => {
  const turn = await ask('playing', 'ask Which city?');
  await turn.question(0);
  const waiting = agent.tasks.at(-1);
  const next = await ask('playing', 'answer three', turn.conversation);
  expect((await next.end()).text).toBe('I was told: three');
  await expect.poll(() => agent.cancelled).toContain(waiting);
});

async function terminate(turn: Awaited<ReturnType<typeof ask>>): Promise<void> {
  await temporal.client.workflow.getHandle(idOf(turn)).terminate('by hand');
  await turn.stream.finished();
}

test('a workflow that is terminated by hand while its task waits for an answer: the remote task is cancelled', async () => {
  const turn = await ask('playing', 'ask Which city?');
  await turn.question(0);
  await terminate(turn);
  await expect.poll(() => agent.cancelled).toContain(agent.tasks.at(-1));
});

test('a workflow that is terminated by hand while its task is at work: the remote task is cancelled', async () => {
  const turn = await ask('playing', 'wait');
  // What it says of its work is noted once it is kept which task it is.
  const log = () => service.storage.turnLog.read({ tenant: 'demo', conversation: turn.conversation }, 0);
  await expect.poll(async () => JSON.stringify(await log())).toContain('Looking it up');
  await terminate(turn);
  await expect.poll(() => agent.cancelled).toContain(agent.tasks.at(-1));
});

test('a login that is finished elsewhere is noticed, and nothing is sent for it', async () => {
  const turn = await ask('playing', 'login Sign in at https://login.example/a?b=c.');
  const question = await turn.question(0);
  expect(question).toMatchObject({
    mode: 'url',
    url: 'https://login.example/a?b=c',
    context: { trigger: 'a2a_auth_required' },
  });
  expect(await turn.answer(0, { action: 'accept' })).toMatchObject({ status: 200 });
  const sent = agent.messages.length;
  agent.finish();
  expect((await turn.end()).text).toBe('I was told: Signed in.');
  expect(agent.messages.length).toBe(sent);
});

test('an account that is refused in the middle of a task is asked for, and the same task goes on', async () => {
  const turn = await ask('keyed', 'book it');
  const connect = async (n: number, key: string) => {
    const question = await turn.question(n);
    expect(question).toMatchObject({ context: { trigger: 'credential_required', server: 'keyed' } });
    const browser = openBrowser();
    const page = await signIn(browser, 'alice', (question as unknown as { url: string }).url);
    await browser.press(page, page.buttons[0] ?? '', { key });
  };
  await connect(0, 'first-key');
  await connect(1, 'second-key');
  expect((await turn.end()).text).toBe('I was told: Booked.');
  expect(keyed.messageIds()).toHaveLength(1);
});

test('a question is open no longer than its agent waits, and the agent is told that nobody answered', async () => {
  const turn = await ask('hurried', 'book it');
  const question = await turn.question(0);
  expect(Date.parse(question.expiresAt)).toBeLessThan(Date.parse(expiresAt ?? ''));
  const { text, questions } = await turn.end();
  expect(text).toContain('I was told: Nobody said.');
  expect(questions).toMatchObject([{ status: 'expired' }]);
  const answer = hurried.asked.findLast(({ method }) => method === 'SendMessage')?.params['message'];
  expect(answer).toMatchObject({
    taskId: 't1',
    metadata: { [extension]: { elicitationId: 'theirs', action: 'cancel' } },
  });
});
