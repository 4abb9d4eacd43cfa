/** A database that is away for longer than a call is tried: the turn waits for it. A clock of its own, which does not. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { DatabaseUnavailable } from '../../src/storage/transient-errors.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { bundleTools } from '../durable-tools/bundle-tools.ts';
import { startBookingServer } from '../servers/booking-server.ts';
import { callOf, nthQuestion, respond, startAsking } from '../service/asking.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { idOf } from './waiting.ts';

let environment: TestWorkflowEnvironment;
let service: Service;

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());
afterEach(() => service.stop());

/** Each call is tried five times at once. */
const failures = 12;

const refused = () =>
  new DatabaseUnavailable(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));

/** Fails so many times, as a database does that is away, and then as it always did. */
function away<A extends unknown[], R>(
  work: (...args: A) => Promise<R>,
  times = failures,
): (...args: A) => Promise<R> {
  let left = times;
  return (...args) => (left-- > 0 ? Promise.reject(refused()) : work(...args));
}

test.each<[string, (storage: Storage) => Storage]>([
  [
    'when the turn begins',
    (storage) => ({ ...storage, turns: { ...storage.turns, begin: away(storage.turns.begin) } }),
  ],
  [
    'before a call has an attempt',
    (storage) => ({ ...storage, toolCalls: { ...storage.toolCalls, take: away(storage.toolCalls.take) } }),
  ],
  [
    'when a step has had attempts',
    (storage) => ({ ...storage, steps: { ...storage.steps, append: away(storage.steps.append) } }),
  ],
  [
    'when a call has had attempts',
    (storage) => ({
      ...storage,
      toolCalls: { ...storage.toolCalls, finish: away(storage.toolCalls.finish) },
    }),
  ],
])('a database that is away %s is waited for', async (_, around) => {
  const temporal = temporalOf(environment);
  service = await startService({ temporal, around });
  const alice = await service.as('alice');
  const conversation = randomUUID();
  const stream = await alice.chat('list my open issues', { conversation, supports: null });
  const handle = environment.client.workflow.getHandle(idOf({ conversation, stream }));
  expect(await handle.result()).toEqual({ status: 'completed' });
  const chunks = await stream.finished();
  const [error] = chunks.flatMap(({ type, errorText }) => (type === 'tool-output-error' ? [errorText] : []));
  expect(error).toContain('nobody was asked');
});

test.each([
  ['when its server asks', 'open'],
  ['while the person thinks', 'untilSettled'],
  ['when the person has answered', 'recorded'],
] as const)(
  'a call whose server holds the connection waits for a database that is away %s',
  async (_, name) => {
    const server = await startBookingServer('held');
    onTestFinished(() => server.stop());
    const around = ({ elicitations, ...storage }: Storage): Storage => ({
      ...storage,
      elicitations: { ...elicitations, [name]: away(elicitations[name] as () => Promise<never>, 2) },
    });
    service = await startAsking({ temporal: temporalOf(environment), url: server.config.url, around });
    const alice = await service.as('alice');
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['book', { city: 'Lisbon' }]), { conversation });
    const question = await nthQuestion(stream, 0);
    await respond(alice, conversation, question, { action: 'accept', content: { nights: 3 } });
    await stream.finished();
    expect(stream.text()).toBe('book: Lisbon for 3');
    expect(server.called()).toEqual(['book Lisbon']);
  },
);

test('what an author’s activity has done is not done again after a database that was away', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlude-notes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const notesFile = path.join(folder, 'notes');
  process.env['INTERLUDE_TEST_NOTES'] = notesFile;
  const temporal = temporalOf(environment);
  /** From when the first effect must be kept. */
  let left: number | undefined;
  const around = ({ toolEffects, ...storage }: Storage): Storage => ({
    ...storage,
    toolEffects: {
      ...toolEffects,
      claim: (...args) =>
        left !== undefined && left-- > 0 ? Promise.reject(refused()) : toolEffects.claim(...args),
      finish: (...args) =>
        (left = (left ?? failures) - 1) >= 0 ? Promise.reject(refused()) : toolEffects.finish(...args),
    },
  });
  const tools = { assistant: await bundleTools() };
  service = await startService({ temporal, around, tools });
  const alice = await service.as('alice');
  const conversation = randomUUID();
  const stream = await alice.chat('call wizard {"steps":1}', { conversation });
  const question = await stream.question('pending');
  await respond(alice, conversation, question, { action: 'accept', content: { word: 'once' } });
  await environment.client.workflow.getHandle(idOf({ conversation, stream })).result();
  await stream.finished();
  expect(left).toBeLessThan(0);
  expect(readFileSync(notesFile, 'utf8')).toBe('1: once\n');
  expect(stream.text()).toContain('note: it had begun');
});
