/** How a tool's question may end, with a clock that passes ten minutes in no time: of an agent, and of one three levels below. */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { questionsIn, respond } from '../service/asking.ts';
import type { ChatStream } from '../service/chat-stream.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import type { Caller } from '../service/user.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { bundleTools } from './bundle-tools.ts';

let environment: TestWorkflowEnvironment;
let service: Service;
let alice: Caller;
let conversation: string;

beforeEach(() => {
  conversation = randomUUID();
});

const threeBelow = 'ask the publisher to ask the editor to ask the researcher to call status {}';

describe.each([
  ['a tool of the agent', 'assistant', 'call status {}', []],
  ['a tool of a delegate three levels below', 'lead', threeBelow, ['publisher', 'editor', 'researcher']],
])('%s', (_, agentId, words, path) => {
  beforeAll(async () => {
    environment = await createTimeSkipping();
    const temporal = temporalOf(environment);
    const bundle = await bundleTools();
    service = await startService({ temporal, tools: { assistant: bundle, researcher: bundle } });
    alice = await service.as('alice');
  });
  afterAll(async () => {
    await service.stop();
    await environment.teardown();
  });

  const begin = (options = {}) => alice.chat(words, { conversation, agentId, ...options });

  async function asked(): Promise<{ stream: ChatStream; elicitationId: string }> {
    const stream = await begin();
    const { elicitationId, context } = await stream.question('pending');
    expect(context['path'] ?? []).toHaveLength(path.length);
    return { stream, elicitationId };
  }

  // First of all: the test server keeps its clock locked once a question of a tool has ended, for whatever comes after it.
  test('hears that nobody answered for ten minutes', async () => {
    const { stream } = await asked();
    await environment.sleep('601 seconds');
    await stream.finished();
    expect(stream.text()).toContain('expired');
    expect(questionsIn(stream).map(({ status }) => status)).toEqual(['expired']);
  });

  test.each([
    [{ action: 'accept', content: { count: 3 } }, 'alice said 3'],
    [{ action: 'decline' }, 'decline'],
    [{ action: 'cancel' }, 'cancel'],
  ])('hears of %j', async (response, said) => {
    const { stream, elicitationId } = await asked();
    expect((await respond(alice, conversation, { elicitationId }, response)).status).toBe(200);
    await stream.finished();
    expect(stream.text()).toContain(said);
  });

  test('hears at once that nobody can be asked', async () => {
    const stream = await begin({ supports: null });
    await stream.finished();
    expect(stream.text()).toContain('unsupported');
    expect(questionsIn(stream)).toEqual([]);
  });

  test('ends with the turn, when that is cancelled', async () => {
    const { stream, elicitationId } = await asked();
    await alice.cancel(conversation);
    expect((await stream.finished()).at(-1)).toMatchObject({ type: 'abort' });
    expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
    const late = await respond(alice, conversation, { elicitationId }, { action: 'decline' });
    expect(late.status).toBe(410);
  });
});
