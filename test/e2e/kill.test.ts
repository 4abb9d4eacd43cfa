/**
 * `npm start` on one machine, and everything in it killed with -9 at the worst moments: a turn goes on where it
 * was, its reader sees everything once, and no tool runs twice.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TurnView } from '@interlude-ai/client/turn-view.ts';
import { recordedServer } from '../../src/platform/development/temporal-server.ts';
import { dataUrl, png } from '../images.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { ChatRequest, OpenAIServer, Reply } from '../servers/openai-server.ts';
import { connectAccount } from '../service/connect-account.ts';
import { lacking, readiness } from './processes.ts';
import type { ServiceProcess } from './processes.ts';
import {
  callsIn,
  expectOneStory,
  expectSameForNewcomer,
  failuresIn,
  questionsIn,
  say,
  textOf,
} from './watch.ts';
import type { Watched } from './watch.ts';
import { createDeployment, showOutput } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;
let model: OpenAIServer;
let service: ServiceProcess;

/** The first try stops in the middle of a word. */
const story = ['Once upon ', 'a time'];

/** How often each agent was asked for words. */
const asked = { clerk: 0, writer: 0 };

function reply({ messages, tools = [] }: ChatRequest): Reply {
  if (tools.length === 0)
    return asked.writer++ === 0 ? { kind: 'hang', chunks: ['Once up'] } : { kind: 'text', chunks: story };
  if (messages.at(-1)?.role !== 'tool')
    return { kind: 'tool-calls', calls: [{ name: 'tracker__list_issues', arguments: '{}' }] };
  return asked.clerk++ === 0 ? { kind: 'hang', chunks: ['Let me'] } : { kind: 'text', chunks: ['Listed.'] };
}

beforeAll(async () => {
  model = await createOpenAIServer({ reply });
  deployment = await createDeployment({ env: { MODEL_URL: model.baseURL } });
  deployment.defer(() => model.stop());
  service = await deployment.start('start');
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

const ran = (tool: string) => deployment.tracker.calls.filter((call) => call.tool === tool);

async function killAndRestart(meanwhile = () => {}): Promise<void> {
  await service.kill('SIGKILL');
  meanwhile();
  service = await deployment.start('start');
}

async function expectAnswered(turn: Watched): Promise<void> {
  const view = await turn.end();
  expect(view.status).toBe('completed');
  expect(questionsIn(view).map(({ status }) => status)).toEqual(['accept']);
  expect(callsIn(view).at(-1)).toBe('tracker__list_issues: done');
  expect(textOf(view)).toMatch(/^Here they are: #\d+ /);
  expectOneStory(turn);
}

test(
  'the service is killed while a question is open: the same stream goes on after its restart, and the tool runs once',
  { timeout: 90_000 },
  async () => {
    const alice = deployment.client('alice');
    const turn = say(alice, 'list my open issues');
    const { url, elicitationId } = await turn.question();

    await killAndRestart();
    await vi.waitFor(() => expect(turn.line).toEqual(['reconnecting', 'connected']));
    expect(await alice.openElicitations(turn.message.conversationId)).toMatchObject([{ elicitationId, url }]);
    expect(deployment.tracker.requests).toBe(0);

    await connectAccount('alice', url);
    await expectAnswered(turn);
    expect(callsIn(await turn.end())).toEqual(['connect_tracker: done', 'tracker__list_issues: done']);
    expect(ran('list_issues')).toHaveLength(1);
    await expectSameForNewcomer(alice, turn);
  },
);

test(
  'Temporal is killed while a question is open: it comes back by itself, the stream never breaks, and the tool runs once',
  { timeout: 90_000 },
  async () => {
    const before = ran('list_issues').length;
    const bob = deployment.client('bob');
    const turn = say(bob, 'list my open issues');
    const { url } = await turn.question();

    const folder = path.join(deployment.dataDir, 'interlude');
    const killed = recordedServer(folder) ?? 0;
    process.kill(killed, 'SIGKILL');
    await vi.waitFor(() => expect(recordedServer(folder)).not.toBe(killed));
    await vi.waitFor(async () => expect(await lacking(deployment.baseUrl)).toEqual([]));

    await connectAccount('bob', url);
    await expectAnswered(turn);
    expect(turn.line).toEqual([]);
    expect(ran('list_issues')).toHaveLength(before + 1);
    await expectSameForNewcomer(bob, turn);
  },
);

describe('killed while its turns are at work', () => {
  const turns: Record<'list' | 'listed' | 'notYet' | 'done' | 'story', Watched> = {} as never;
  let listedBefore: number;

  /** One call of each kind is under way when the service dies; both accounts are connected by now. */
  beforeAll(async () => {
    const alice = deployment.client('alice');
    const { faults } = deployment.tracker;
    turns.listed = say(alice, 'list them', { agentId: 'clerk' });
    await turns.listed.until((view) => textOf(view) === 'Let me');
    listedBefore = ran('list_issues').length;
    const arriving = async (moment: 'before' | 'after', text: string) => {
      const { arrived, release } = faults.hold(moment);
      const turn = say(alice, text);
      await arrived;
      return { turn, release };
    };
    const list = await arriving('before', 'list my open issues');
    const notYet = await arriving('before', 'create an issue called Not yet');
    const done = await arriving('after', 'create an issue called Done already');
    turns.list = list.turn;
    turns.notYet = notYet.turn;
    turns.done = done.turn;
    const message = { id: randomUUID(), text: 'tell me a story', images: [dataUrl(png)] };
    turns.story = say(alice, '', { agentId: 'writer', message });
    await turns.story.until((view) => textOf(view) === 'Once up');
    await killAndRestart(() => done.release());
  });

  test('a call that only reads is made again, and its answer arrives', { timeout: 90_000 }, async () => {
    const view = await turns.list.end();
    expect(callsIn(view)).toEqual(['tracker__list_issues: done']);
    expect(textOf(view)).toContain('Here they are');
    expectOneStory(turns.list);
    expect(ran('list_issues')).toHaveLength(listedBefore + 1);
  });

  test('a call whose result the model was reading is not made again', { timeout: 90_000 }, async () => {
    const view = await turns.listed.end();
    expect(callsIn(view)).toEqual(['tracker__list_issues: done']);
    expect(textOf(view)).toBe('Listed.');
    expectOneStory(turns.listed);
    await turns.list.end();
    expect(ran('list_issues')).toHaveLength(listedBefore + 1);
  });

  test.each([
    ['on its way', 'notYet', 0],
    ['done, but its answer is lost', 'done', 1],
  ] as const)(
    'a call that changes something is not repeated when it is %s: the model is told that the outcome is unknown',
    { timeout: 90_000 },
    async (_, which, executions) => {
      const view = await turns[which].end();
      expect(failuresIn(view)).toEqual([expect.stringContaining('unknown whether the action took place')]);
      expect(textOf(view)).toContain('I cannot tell whether it happened');
      expectOneStory(turns[which]);
      const title = which === 'done' ? 'Done already' : 'Not yet';
      const issues = deployment.tracker.issues.list({ state: 'all', assignee: null });
      expect(issues.filter((issue) => issue.title === title)).toHaveLength(executions);
    },
  );

  const textsIn = ({ parts }: TurnView) =>
    parts.map((part) => (part.kind === 'text' ? part.text : part.kind));

  test(
    'a sentence that was cut off is said again, whole: who watched it reads it once in the end',
    { timeout: 90_000 },
    async () => {
      expect(textsIn(await turns.story.end())).toEqual(['Once upon a time']);
      expect(turns.story.views.map((view) => textsIn(view).join())).toContain('Once up');
      expectOneStory(turns.story);
      // The model is given the image of the message again.
      const given = model.requests
        .filter(({ body }) => !body.tools?.length)
        .map(({ body }) => JSON.stringify(body.messages).includes(dataUrl(png)));
      expect(given).toEqual([true, true]);
    },
  );

  test('newcomers read it once, and never what was cut off', { timeout: 90_000 }, async () => {
    await turns.story.end();
    const alice = deployment.client('alice');
    const newcomer = say(alice, '', turns.story.message);
    expect(textsIn(await newcomer.end())).toEqual(['Once upon a time']);
    let said = '';
    for await (const { event } of alice.events(turns.story.message.conversationId)) {
      if (event.type === 'text-delta') said += String(event['delta']);
      if (event.type === 'turn-ended') break;
    }
    expect(said).toBe('Once upon a time');
  });
});

test(
  'stopped on purpose, it lets go of its streams, exits with 0, and the turn goes on after the next start',
  { timeout: 90_000 },
  async () => {
    deployment.tracker.revoke('bob');
    const bob = deployment.client('bob');
    const turn = say(bob, 'list my open issues');
    const { url } = await turn.question();
    const caller = await deployment.caller('bob');
    const plain = await caller.rejoin(turn.message.conversationId);
    await plain?.question('pending');

    const stoppedAt = Date.now();
    const stopping = service.kill('SIGTERM');
    await expect(plain?.finished()).rejects.toThrow('The stream was cut');
    const said = plain?.chunks.map(({ type }) => type);
    expect(said).not.toContain('finish');
    expect(said).not.toContain('abort');
    expect(await readiness(deployment.baseUrl)).not.toBe(200);
    expect(await stopping).toEqual({ code: 0, signal: null });
    expect(Date.now() - stoppedAt).toBeLessThan(20_000);

    service = await deployment.start('start');
    await connectAccount('bob', url);
    await expectAnswered(turn);
    await expectSameForNewcomer(bob, turn);
  },
);

test('the database file is deleted under it: it is not ready any more, and says why', async () => {
  await rm(path.join(deployment.dataDir, 'interlude', 'interlude.db'));
  await vi.waitFor(async () => expect(await readiness(deployment.baseUrl)).toBe(503));
  expect(await (await fetch(`${deployment.baseUrl}/readyz`)).json()).toMatchObject({
    notReady: [
      {
        name: 'database',
        detail: expect.stringMatching(/^the database does not answer.*; check DATABASE_URL$/),
      },
    ],
  });
});
