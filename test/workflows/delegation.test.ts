/** Agents that ask other agents: whole turns on a real server. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { searchAttributes } from '../../src/workflows/messages.ts';
import type { TurnEvent } from '../../src/turn/event.ts';
import type { ChatStream, Chunk, ElicitationData } from '../service/chat-stream.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';
import type { UsedService } from '../service/use-service.ts';
import { idOf, isWaiting, untilDelegatesWait } from './waiting.ts';

/** The service of the `describe` whose tests run. */
const used = {} as UsedService;
let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
});

const ask = (text: string, agentId = 'lead') => used.alice.chat(text, { conversation, agentId });
const conversationRef = () => ({ tenant: 'demo', conversation });
const turnOf = (stream: ChatStream) => ({ conversation, stream });
const handle = (stream: ChatStream) => used.temporal.client.workflow.getHandle(idOf(turnOf(stream)));
/** The workflow ids of so many delegates called researcher, once they wait for the user. */
const researchersWait = (stream: ChatStream, count = 1) =>
  untilDelegatesWait(used, turnOf(stream), 'researcher', count);
const statusOf = async (turnId: string) =>
  (await used.service.storage.turns.get({ ...conversationRef(), turnId }))?.status;

async function eventsBy(...path: string[]): Promise<TurnEvent[]> {
  const entries = await used.service.storage.turnLog.read(conversationRef(), 0);
  return entries
    .map(({ event }) => event)
    .filter((event) => JSON.stringify(event.path ?? []) === JSON.stringify(path));
}

const textIn = (events: TurnEvent[]) =>
  events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('');
const errorsIn = (chunks: Chunk[]) =>
  chunks.filter(({ type }) => type === 'tool-output-error').map(({ errorText }) => String(errorText));
const callsIn = (chunks: Chunk[]) =>
  chunks.filter(({ type }) => type === 'tool-input-available').map(({ toolName }) => toolName);

/** Alice's account is connected and the tools are known: no question is needed. */
async function connected(): Promise<void> {
  const stream = await used.alice.chat('list my open issues');
  await connectAccount('alice', (await stream.question('pending')).url);
  await stream.finished();
}

/** The workflows of this conversation that Temporal still runs, once it lists what it has just started or ended. */
async function running(): Promise<string[]> {
  const ids: string[] = [];
  const list = used.temporal.client.workflow.list({
    query: `InterludeConversation = "${conversation}" and ExecutionStatus = "Running"`,
  });
  for await (const { workflowId } of list) ids.push(workflowId);
  return ids;
}

describe('a task for another agent', () => {
  describe('of somebody new', () => {
    useService({ into: used });

    test('is done by that agent, which asks the user itself; its answer comes back as the result of the call', async () => {
      const stream = await ask('ask the researcher to list my open issues');
      const question = await stream.question('pending');
      expect(question.context).toMatchObject({
        agent: 'Researcher',
        path: ['researcher'],
        server: 'tracker',
      });
      await researchersWait(stream);
      await connectAccount('alice', question.url);
      const chunks = await stream.finished();
      expect(callsIn(chunks)).toEqual(['agent__researcher']);
      expect(stream.text()).toMatch(/^I was told: Here they are: #\d+ /);
      expect(used.service.tracker.calls.map(({ tool }) => tool)).toEqual(['list_issues']);

      const own = await eventsBy();
      expect(own.filter(({ type }) => type === 'tool-input-available')).toMatchObject([
        { toolName: 'agent__researcher', agent: 'researcher', input: { task: 'list my open issues' } },
      ]);
      expect(own.filter(({ type }) => type === 'turn-started' || type === 'turn-ended')).toHaveLength(2);
      const theirs = await eventsBy('researcher');
      expect(textIn(theirs)).toMatch(/^Here they are/);
      expect(
        theirs.flatMap((event) => (event.type === 'tool-input-available' ? event.toolName : [])),
      ).toEqual(['connect_tracker', 'tracker__list_issues']);
      expect(theirs.flatMap((event) => (event.type === 'elicitation-request' ? event.status : []))).toEqual([
        'pending',
        'accept',
      ]);
      await expect.poll(running).toEqual([]);
    });
  });

  describe('of somebody who has connected no account', () => {
    useService({ into: used });

    test('that an operator terminates ends as an error in words, and the asking agent goes on', async () => {
      const stream = await ask('ask the researcher to list my open issues');
      const { elicitationId } = await stream.question('pending');
      const [workflowId = ''] = await researchersWait(stream);
      await used.temporal.client.workflow.getHandle(workflowId).terminate('by hand');
      const chunks = await stream.finished();
      expect(errorsIn(chunks)[0]).toBe(
        'Researcher did not finish the task. It was stopped. Whatever it had done before stays done: check before the task is handed over again.',
      );
      expect(await used.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
    });

    test('that an operator cancels leaves no question behind, and the asking agent goes on', async () => {
      const stream = await ask('ask the researcher to list my open issues');
      await stream.question('pending');
      const [workflowId = ''] = await researchersWait(stream);
      await used.temporal.client.workflow.getHandle(workflowId).cancel();
      const chunks = await stream.finished();
      expect(errorsIn(chunks)).toHaveLength(1);
      const closed = chunks.findIndex(
        ({ data }) => (data as ElicitationData | undefined)?.status === 'cancel',
      );
      const told = chunks.findIndex(({ type }) => type === 'tool-output-error');
      expect(closed).toBeGreaterThan(0);
      expect(closed).toBeLessThan(told);
    });

    test('is nothing an agent can give away that has nobody to give it to', async () => {
      const stream = await ask('ask the researcher to list my open issues', 'assistant');
      await stream.finished();
      expect(stream.text()).toBe('I have no tool called agent__researcher.');
    });

    test('may be handed on, and the question is still the one agent’s that needs the answer', async () => {
      const stream = await ask('ask the editor to ask the researcher to list my open issues');
      const question = await stream.question('pending');
      expect(question.context).toMatchObject({ agent: 'Researcher', path: ['editor', 'researcher'] });
      await connectAccount('alice', question.url);
      await stream.finished();
      expect(stream.text()).toMatch(/^I was told: I was told: Here they are/);
      expect(textIn(await eventsBy('editor'))).toMatch(/^I was told: Here they are/);
      expect(textIn(await eventsBy('editor', 'researcher'))).toMatch(/^Here they are/);
    });
  });

  describe('of somebody whose account is connected', () => {
    useService({ into: used, prepare: connected });

    test('leaves nothing but itself and its answer in the conversation, which goes on from there', async () => {
      await (await ask('ask the researcher to list my open issues')).finished();
      const messages = await used.service.storage.messages.list(conversationRef());
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
      expect(JSON.stringify(messages)).not.toContain('tracker__list_issues');
      const next = await ask('hello');
      await next.finished();
      expect(next.text()).toBe('You said: hello');
    });

    test('counts into the usage of the turn', async () => {
      const tokensOf = async ({ turnId }: ChatStream) =>
        (await used.service.storage.turns.get({ ...conversationRef(), turnId }))?.usage?.outputTokens ?? 0;
      const plain = await ask('list my open issues', 'researcher');
      await plain.finished();
      conversation = randomUUID();
      const delegated = await ask('ask the researcher to list my open issues');
      await delegated.finished();
      expect(await tokensOf(delegated)).toBeGreaterThan(2 * (await tokensOf(plain)));
    });

    test('may be two at once for the same agent, each in a story of its own', async () => {
      const callsBefore = used.service.tracker.calls.length;
      const stream = await ask('ask two researchers');
      const chunks = await stream.finished();
      expect(errorsIn(chunks)).toEqual([]);
      expect(stream.text().match(/Here they are/g)).toHaveLength(2);
      expect(used.service.tracker.calls.slice(callsBefore).map(({ tool }) => tool)).toEqual([
        'list_issues',
        'list_issues',
      ]);
      const theirs = await eventsBy('researcher');
      const calls = new Set(theirs.map(({ parentToolCallId }) => parentToolCallId));
      expect(calls.size).toBe(2);
      for (const call of calls) {
        const story = theirs.filter(({ parentToolCallId }) => parentToolCallId === call);
        expect(story.map(({ type }) => type).filter((type) => !/^(text|reasoning)-/.test(type))).toEqual([
          'start-step',
          'tool-input-available',
          'finish-step',
          'tool-output-available',
          'start-step',
          'finish-step',
        ]);
      }
      const usual = theirs.flatMap((event) => ('toolCallId' in event ? event.toolCallId : []));
      expect(new Set(usual).size).toBe(2);
    });

    test('that the agent cannot finish ends as an error in words, and the asking agent goes on', async () => {
      const stream = await ask('ask the researcher to go round in circles');
      const chunks = await stream.finished();
      expect(errorsIn(chunks)[0]).toMatch(/^Researcher did not finish the task\. .*stopped after 4 steps/);
      expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
      expect((await eventsBy('researcher')).filter(({ type }) => type === 'start-step')).toHaveLength(4);
    });

    test('leaves ids and decisions in history, and no word of it', async () => {
      const stream = await ask('ask the researcher to create an issue called Zanzibar');
      await stream.finished();
      expect(stream.text()).toBe('I was told: Created.');
      const [call] = (await eventsBy()).flatMap((event) => ('toolCallId' in event ? event.toolCallId : []));
      const ids = [idOf(turnOf(stream)), `${idOf(turnOf(stream))}/agent/${call}`];
      for (const id of ids) {
        const recorded = await used.temporal.client.workflow.getHandle(id).fetchHistory();
        const history = JSON.stringify(recorded, (key, value: unknown) =>
          key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
        );
        expect(history).toContain('researcher');
        for (const secret of ['Zanzibar', 'Created', 'Bearer']) expect(history).not.toContain(secret);
      }
    });

    test('refuses a new message while it is worked on, and is stopped by cancelling', async () => {
      const held = used.service.tracker.faults.hold('before');
      const working = await ask('ask the researcher to create an issue called Stopped');
      await held.arrived;
      await expect(ask('hello')).rejects.toThrow('turn_in_progress');
      await used.alice.cancel(conversation);
      const chunks = await working.finished();
      held.release();
      expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
      const [lost] = (await eventsBy('researcher')).flatMap((event) =>
        event.type === 'tool-output-error' ? event.errorText : [],
      );
      // What the call itself said, which was waited for.
      expect(lost).toMatch(/^Tracker was called, .*unknown whether the action took place/);
      const log = await used.service.storage.turnLog.read(conversationRef(), 0);
      expect(log.at(-1)?.event).toMatchObject({ type: 'turn-ended', status: 'cancelled' });
    });
  });
});

describe('a refused question', () => {
  useService({ into: used, prepare: connected });

  test.each([
    ['the one that asked', 'ask the researcher, then list yourself'],
    ['one that is asked later', 'list yourself, then ask the researcher'],
  ])('is not put again by another agent of the turn: %s', async (_, text) => {
    const callsBefore = used.service.tracker.calls.length;
    const bob = await used.service.as('bob');
    const stream = await bob.chat(text, { conversation, agentId: 'lead' });
    const { elicitationId } = await stream.question('pending');
    await bob.answer({ conversationId: conversation, elicitationId, action: 'decline' });
    const chunks = await stream.finished();
    expect(chunks.filter(({ type }) => type === 'data-elicitation-request')).toHaveLength(2);
    expect(errorsIn(chunks)).toEqual([expect.stringContaining('chose not to')]);
    expect(stream.text()).toContain('I will leave your Tracker account alone');
    expect(used.service.tracker.calls).toHaveLength(callsBefore);
  });
});

describe('while another agent waits for the user', () => {
  useService({ into: used });
  const listing = 'ask the researcher to list my open issues';

  test('cancelling the turn ends them all and closes the question', async () => {
    const stream = await ask('ask the editor to ask the researcher to list my open issues');
    await stream.question('pending');
    await used.alice.cancel(conversation);
    const chunks = await stream.finished();
    await stream.question('cancel');
    expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
    expect(errorsIn(chunks)[0]).toContain('while another agent was at work on this task');
    await handle(stream).result();
    await expect.poll(running).toEqual([]);
    const theirs = await eventsBy('editor', 'researcher');
    expect(theirs.filter(({ type }) => type === 'tool-output-error')).toHaveLength(1);
  });

  test('operators read the story of each agent, and who waits for what', async () => {
    const stream = await ask(listing);
    await stream.question('pending');
    const [workflowId = ''] = await researchersWait(stream);
    const workflows = used.temporal.client.workflow;
    const detailsOf = async (id: string) => {
      const metadata = await workflows.getHandle(id).query('__temporal_workflow_metadata');
      return (metadata as { currentDetails: string }).currentDetails;
    };
    expect(await detailsOf(idOf(turnOf(stream)))).toBe('model step 1: delegated to researcher');
    expect(await isWaiting(used, idOf(turnOf(stream)))).toBe(false);
    expect(await detailsOf(workflowId)).toContain('waiting for the user to connect **tracker**');
    const { staticSummary, typedSearchAttributes, memo } = await workflows.getHandle(workflowId).describe();
    expect(await staticSummary()).toBe('researcher, asked by lead, for alice');
    expect(typedSearchAttributes.get(searchAttributes.status)).toBe('waiting_input');
    expect(memo).toEqual({ turnId: stream.turnId });
    await used.alice.cancel(conversation);
    await stream.finished();
  });

  test.each([listing, 'ask the editor to ask the researcher to list my open issues', 'ask two researchers'])(
    'a new message takes the place of the turn: %s',
    async (task) => {
      const waiting = await ask(task);
      await waiting.question('pending');
      await researchersWait(waiting, task === 'ask two researchers' ? 2 : 1);
      const next = await ask('hello');
      await next.finished();
      expect(next.text()).toBe('You said: hello');
      expect(errorsIn(await waiting.finished())[0]).toContain('sent a new message instead of answering');
      await waiting.question('cancel');
      expect(await statusOf(waiting.turnId)).toBe('superseded');
      expect(used.service.tracker.requests).toBe(0);
      await expect.poll(running).toEqual([]);
    },
  );

  test('a new message that comes with the question itself takes its place as well', async () => {
    const waiting = await ask(listing);
    await waiting.question('pending');
    const next = await ask('hello');
    await next.finished();
    expect(next.text()).toBe('You said: hello');
  });
});

describe('an answer that came before a new message', () => {
  useService({ into: used });

  test('counts more', async () => {
    const waiting = await ask('ask the researcher to list my open issues');
    const question = await waiting.question('pending');
    const held = used.service.tracker.faults.hold('before');
    await connectAccount('alice', question.url);
    await held.arrived;
    await expect(ask('hello')).rejects.toThrow('turn_in_progress');
    held.release();
    await waiting.finished();
    expect(waiting.text()).toContain('Here they are');
    expect(await statusOf(waiting.turnId)).toBe('completed');
  });
});

describe('an answer to one agent, then a new message while another agent still asks', () => {
  useService({ into: used });

  test('counts more, and the other agent goes on asking', async () => {
    const form = {
      message: 'Where to?',
      schema: { type: 'object', properties: { city: { type: 'string' } } },
    };
    const interview = JSON.stringify({ task: `call ask_user ${JSON.stringify(form)}` });
    const stream = await ask(
      ['call agent__researcher {"task":"list my open issues"}', `call agent__interviewer ${interview}`].join(
        '\n',
      ),
    );
    const questions = () =>
      stream.chunks.flatMap(({ type, data }) =>
        type === 'data-elicitation-request' ? [data as ElicitationData] : [],
      );
    await stream.until(() => questions().length === 2);
    await researchersWait(stream);
    const account = questions().find(({ mode }) => mode === 'url');
    const city = questions().find(({ mode }) => mode === 'form');
    const held = used.service.tracker.faults.hold('before');
    await connectAccount('alice', account?.url ?? '');
    await held.arrived;
    await expect(ask('hello')).rejects.toThrow('turn_in_progress');
    // The other agent's question is still open.
    const elicitationId = city?.elicitationId ?? '';
    const answer = { conversationId: conversation, elicitationId, action: 'decline' };
    expect(await used.alice.answer(answer)).toMatchObject({ status: 200, body: { status: 'decline' } });
    held.release();
    await stream.finished();
    expect(stream.text()).toContain('Here they are');
    expect(await statusOf(stream.turnId)).toBe('completed');
  });
});

describe('while another agent waits for a user of a new service', () => {
  useService({ into: used });

  test('nothing survives when an operator terminates the turn', async () => {
    const stream = await ask('ask the editor to ask the researcher to list my open issues');
    const { elicitationId } = await stream.question('pending');
    await handle(stream).terminate('by hand');
    await expect.poll(running).toEqual([]);
    // The service looks for turns whose workflows are gone.
    const row = () => used.service.storage.elicitations.get(elicitationId);
    await expect.poll(row).toMatchObject({ status: 'cancel' });
    expect(await used.alice.cancel(conversation)).toMatchObject({ body: { status: 'idle' } });
    // Failed, or cancelled by the request.
    const types = (await stream.finished()).map(({ type }) => type);
    expect(types).toContainEqual(expect.stringMatching(/^(abort|error)$/));
  });
});
