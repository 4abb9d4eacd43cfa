/** How far a call has come, from its server to its readers. */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import type { ToolCallPart, TurnView } from '@interlude-ai/client/turn-view.ts';
import type { TurnEvent } from '../../src/turn/event.ts';
import { doing } from '@interlude-ai/program/chat/wording.ts';
import { createEventStore } from '../servers/event-store.ts';
import { startChangingToolsServer } from '../servers/changing-tools-server.ts';
import { callOf, nthQuestion, respond, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';

const temporal = useDevelopmentServer();
let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function start(era: 'modern' | 'legacy') {
  const server = await startChangingToolsServer(era);
  stack.defer(() => server.stop());
  const service = await startAsking({ temporal, url: server.config.url });
  stack.defer(() => service.stop());
  const token = await service.token('alice');
  return { server, service, client: createClient({ baseUrl: service.baseUrl, token }) };
}

async function progressIn(service: Service, conversation: string) {
  const log = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
  return log.flatMap(({ event }) => (event.type === 'tool-progress' ? [event] : []));
}

const message = (conversationId: string, text: string) => ({
  conversationId,
  message: { id: randomUUID(), text },
});
const callIn = (view: TurnView | undefined) =>
  view?.parts.find((part): part is ToolCallPart => part.kind === 'tool-call');

describe.each(['modern', 'legacy'] as const)('a %s server', (era) => {
  test('that reports progress is seen to come on: on the call, in the operations, in the terminal and on the feed', async () => {
    const { server, service, client } = await start(era);
    const conversation = randomUUID();
    service.begun(conversation);
    const notices = [
      { progress: 2, total: 5, message: 'Reading' },
      { progress: 5, total: 5, message: 'Done' },
    ];
    const turn = client.start(message(conversation, callOf(['import', { notices, pause: true }])), {
      operations: true,
    });
    const seen: unknown[] = [];
    let last: TurnView | undefined;
    for await (const view of turn) {
      last = view;
      const state = callIn(view)?.state;
      if (state?.kind !== 'running' || view.operations.at(-1)?.type !== 'tool_progress') continue;
      seen.push([state.progress, doing(view)]);
      server.go();
    }
    expect(seen).toEqual([
      [{ progress: 2, total: 5 }, 'asking · import: 40 % …'],
      [{ progress: 5, total: 5 }, 'asking · import: 100 % …'],
    ]);
    expect(callIn(last)?.state.kind).toBe('done');
    const said = last?.operations.filter(({ type }) => type === 'tool_progress');
    expect(said).toMatchObject([{ label: 'asking · import: 100 %' }]);

    const feed: TurnEvent[] = [];
    for await (const { event } of client.events(conversation, { operations: true })) {
      feed.push(event as TurnEvent);
      if (event.type === 'turn-ended') break;
    }
    expect(feed.filter(({ type }) => type === 'tool-progress')).toMatchObject([
      { toolName: 'asking__import', progress: 2, total: 5, message: 'Reading' },
      { toolName: 'asking__import', progress: 5, total: 5, message: 'Done' },
    ]);
    expect(
      feed.filter((event) => (event as { data?: { type: string } }).data?.type === 'tool_progress'),
    ).toHaveLength(2);
  });

  test('that floods us with progress is heard twice a second, at its first and at its last word', async () => {
    const { service, client } = await start(era);
    const conversation = randomUUID();
    service.begun(conversation);
    const long = `${'x'.repeat(300)}\u001b[2J`;
    const notices = Array.from({ length: 300 }, (_, index) => ({ progress: index + 1, message: long }));
    const startedAt = Date.now();
    for await (const _ of client.start(message(conversation, callOf(['import', { notices }]))));
    const tookMs = Date.now() - startedAt;
    const noted = await progressIn(service, conversation);
    expect(noted[0]).toMatchObject({ progress: 1, message: 'x'.repeat(200) });
    expect(noted.at(-1)?.progress).toBe(300);
    expect(noted.length).toBeLessThanOrEqual(2 + tookMs / 500);
    const log = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
    const types = log.map(({ event }) => event.type);
    expect(types.lastIndexOf('tool-progress')).toBeLessThan(types.indexOf('tool-output-available'));
  });

  test('that goes backwards, or talks of another call, is not heard', async () => {
    const { service, client } = await start(era);
    const conversation = randomUUID();
    service.begun(conversation);
    const notices = [
      { progress: 7 },
      { progress: 3 },
      { progress: 90, progressToken: 'somebody-else' },
      { progress: 7 },
    ];
    for await (const _ of client.start(message(conversation, callOf(['import', { notices }]))));
    expect((await progressIn(service, conversation)).map(({ progress }) => progress)).toEqual([7]);
  });
});

test.each([
  ['that asks in rounds', 'modern', false],
  ['that is left alone while people think', 'legacy', true],
  ['whose line is held while people think', 'legacy', false],
] as const)('a call %s is heard after the answer as before it', async (_, era, hasEventIds) => {
  const server = await startChangingToolsServer(era, hasEventIds ? createEventStore() : undefined);
  stack.defer(() => server.stop());
  const service = await startAsking({ temporal, url: server.config.url });
  stack.defer(() => service.stop());
  const alice = await service.as('alice');
  const conversation = randomUUID();
  const turn = await alice.chat(callOf(['confirm']), { conversation });
  const question = await nthQuestion(turn, 0);
  expect((await progressIn(service, conversation)).map(({ progress }) => progress)).toEqual([1]);
  await respond(alice, conversation, question, { action: 'accept', content: { sure: true } });
  await turn.finished();
  expect(turn.text()).toBe('confirmed');
  const noted = (await progressIn(service, conversation)).map(({ progress }) => progress);
  expect(noted.at(-1)).toBe(3);
  expect(noted).toEqual([...new Set(noted)].sort());
  // So is the change of its tools.
  const next = await alice.chat(callOf(['hidden']), { conversation });
  await next.finished();
  expect(next.text()).toBe('found');
});
