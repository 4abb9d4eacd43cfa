/** A turn whose writes fail: it outlasts trouble of the database, and ends of anything else. */
import { randomUUID } from 'node:crypto';
import { WorkflowFailedError } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { DatabaseUnavailable } from '../../src/storage/transient-errors.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { ChatStream } from '../service/chat-stream.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import type { Caller } from '../service/user.ts';
import { idOf } from './waiting.ts';

const temporal = useDevelopmentServer();
let service: Service;
let alice: Caller;
let conversation: string;

afterEach(() => service.stop());

type Broken = { [Part in keyof Storage]?: Partial<Storage[Part]> };

async function startWith(broken: (storage: Storage) => Broken): Promise<void> {
  service = await startService({
    temporal,
    around(storage) {
      const parts = broken(storage);
      return {
        ...storage,
        turns: { ...storage.turns, ...parts.turns },
        steps: { ...storage.steps, ...parts.steps },
        elicitations: { ...storage.elicitations, ...parts.elicitations },
      };
    },
  });
  alice = await service.as('alice');
  conversation = randomUUID();
}

const wrong = (): Promise<never> => Promise.reject(new TypeError('a mistake of ours'));
const handle = (stream: ChatStream) => temporal.client.workflow.getHandle(idOf({ conversation, stream }));
const listing = 'list my open issues';

test('a question that cannot be opened fails its call, with words that name nothing, and the turn goes on', async () => {
  await startWith(() => ({ elicitations: { open: wrong } }));
  const stream = await alice.chat(listing, { conversation });
  const chunks = await stream.finished();
  const error = chunks.find(({ type }) => type === 'tool-output-error')?.['errorText'];
  expect(error).toContain('could not be called because of a problem on our side');
  expect(await handle(stream).result()).toEqual({ status: 'completed' });
});

test('an end that cannot be written closes the workflow all the same, and the next turn can begin', async () => {
  let isWrong = true;
  await startWith(({ steps, turns }) => ({
    // The last step leaves the end to the workflow, as where the turn is being cancelled.
    steps: { keep: (turn, of, { ending: _, ...kept }) => steps.keep(turn, of, kept) },
    turns: { end: (...ending) => (isWrong ? wrong() : turns.end(...ending)) },
  }));
  const lost = await alice.chat('hello', { conversation });
  await expect(handle(lost).result()).rejects.toThrow(WorkflowFailedError);
  isWrong = false;
  // The service looks for turns whose workflows are gone, and ends them.
  await lost.finished();
  const next = await alice.chat('hello again', { conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello again');
});

test.each(['steps', 'turns'] as const)(
  'a database that is away when the end is written (%s) is waited for',
  async (part) => {
    let left = 8;
    const away = () =>
      new DatabaseUnavailable(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
    await startWith(({ steps, turns }) => ({
      steps: {
        keep(turn, of, { ending, ...kept }) {
          if (part === 'steps' && left-- > 0) return Promise.reject(away());
          return steps.keep(turn, of, { ...kept, ...(part === 'steps' && ending && { ending }) });
        },
      },
      turns: {
        end: (...ending) => (part === 'turns' && left-- > 0 ? Promise.reject(away()) : turns.end(...ending)),
      },
    }));
    const stream = await alice.chat('hello', { conversation });
    await stream.finished();
    expect(await handle(stream).result()).toEqual({ status: 'completed' });
    expect(left).toBeLessThan(1);
  },
  90_000,
);
