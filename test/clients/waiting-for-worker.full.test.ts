/** A turn that no worker takes up says so to every reader, in no log, and goes on when there is one. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import { waitsForWorker } from '@interlude-ai/client/turn-view.ts';
import type { TurnView } from '@interlude-ai/client/turn-view.ts';
import { OperationSchema } from '@interlude-ai/core/contract/stream-event.ts';
import type { ChatStream, Chunk } from '../service/chat-stream.ts';
import { useService } from '../service/use-service.ts';

let arrives: () => void;

const { service, alice } = useService({
  per: 'test',
  around(storage) {
    const worker = Promise.withResolvers<void>();
    arrives = worker.resolve;
    return {
      ...storage,
      turns: {
        ...storage.turns,
        begin: async (turn) => {
          await worker.promise;
          return storage.turns.begin(turn);
        },
      },
    };
  },
});
afterEach(() => arrives());

const isWait = ({ data }: Chunk) => (data as { type?: string } | undefined)?.type === 'waiting_for_worker';
const waitsIn = (chunks: Chunk[]) =>
  chunks.filter(isWait).map(({ data }) => OperationSchema.parse(data).details['status']);
const told = { 'x-emit-operations': 'true' };

async function rejoin(conversation: string): Promise<ChatStream> {
  const stream = await alice.rejoin(conversation, told);
  if (!stream) throw new Error('the turn is not live');
  return stream;
}

test('those who want to know what the turn does are told, also when they come later, and when it is over', async () => {
  const conversation = randomUUID();
  const stream = await alice.chat('hello', { conversation, headers: told });
  const wait = await stream.until(isWait);
  // Nothing of it stays in the message of a `useChat` app.
  expect(wait).toMatchObject({
    type: 'data-operation',
    transient: true,
    data: { label: 'Waiting for a worker' },
  });
  const later = await rejoin(conversation);
  await later.until(isWait);
  arrives();
  for (const reader of [stream, later]) expect(waitsIn(await reader.finished())).toEqual(['waiting', 'over']);
  expect(stream.text()).toBe('You said: hello');
  const again = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
  expect(JSON.stringify(again)).not.toContain('worker');
});

test('nobody else is, and a worker that is there at once says nothing', async () => {
  const conversation = randomUUID();
  const quiet = await alice.chat('hello', { conversation });
  const knowing = await rejoin(conversation);
  await knowing.until(isWait);
  arrives();
  expect((await quiet.finished()).filter(({ type }) => type === 'data-operation')).toEqual([]);
  const prompt = await alice.chat('hello', { headers: told });
  expect(waitsIn(await prompt.finished())).toEqual([]);
});

test('the client shows it as what the turn does', async () => {
  const client = createClient({ baseUrl: service.baseUrl, token: await service.token('alice') });
  const views: TurnView[] = [];
  for await (const view of client.start({ message: { text: 'hello' } }, { operations: true })) {
    if (waitsForWorker(view)) arrives();
    views.push(view);
  }
  expect(waitsForWorker(views[0] as TurnView)).toBe(true);
  expect(waitsForWorker(views.at(-1) as TurnView)).toBe(false);
  expect(views.at(-1)?.operations[0]).toMatchObject({
    type: 'waiting_for_worker',
    label: 'A worker has taken the turn',
  });
});
