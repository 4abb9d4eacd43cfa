/** What becomes of a turn whose writes fail: it outlasts the database's trouble, and ends of anything else. */
import { randomUUID } from 'node:crypto';
import { WorkflowFailedError } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { DatabaseUnavailable } from '../../src/storage/transient-errors.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import type { Caller } from '../service/user.ts';

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
        elicitations: { ...storage.elicitations, ...parts.elicitations },
      };
    },
  });
  alice = await service.as('alice');
  conversation = randomUUID();
}

const wrong = (): Promise<never> => Promise.reject(new TypeError('a mistake of ours'));
const handle = () => temporal.client.workflow.getHandle(turnWorkflowId({ tenant: 'demo', conversation }));
const listing = 'list my open issues';

test('a question that cannot be opened ends the turn, with words that name nothing', async () => {
  await startWith(() => ({ elicitations: { open: wrong } }));
  const stream = await alice.chat(listing, { conversation });
  const chunks = await stream.finished();
  const error = chunks.find(({ type }) => type === 'error')?.['errorText'];
  expect(error).toBe('Something went wrong on our side, and the answer could not be finished.');
  expect(await handle().result()).toEqual({ status: 'failed' });
});

test('an answer that cannot be written ends the turn, and the question with it', async () => {
  await startWith(({ elicitations }) => ({
    elicitations: {
      settleAll: (settlements) => (settlements.length > 0 ? wrong() : elicitations.settleAll(settlements)),
    },
  }));
  const stream = await alice.chat(listing, { conversation });
  const { elicitationId } = await stream.question('pending');
  await alice.answer({ conversationId: conversation, elicitationId, action: 'decline' });
  await stream.finished();
  expect(await handle().result()).toEqual({ status: 'failed' });
  expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'decline' });
});

test('an end that cannot be written closes the workflow all the same, and the next turn can begin', async () => {
  let isWrong = true;
  await startWith(({ turns }) => ({
    turns: { end: (...ending) => (isWrong ? wrong() : turns.end(...ending)) },
  }));
  const lost = await alice.chat('hello', { conversation });
  await expect(handle().result()).rejects.toThrow(WorkflowFailedError);
  isWrong = false;
  const next = await alice.chat('hello again', { conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello again');
  await lost.finished();
});

test('a database that is away for longer than a mistake is forgiven is waited for', async () => {
  let left = 8;
  const away = () =>
    new DatabaseUnavailable(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  await startWith(({ turns }) => ({
    turns: { end: (...ending) => (left-- > 0 ? Promise.reject(away()) : turns.end(...ending)) },
  }));
  const stream = await alice.chat('hello', { conversation });
  await stream.finished();
  expect(await handle().result()).toEqual({ status: 'completed' });
}, 90_000);
