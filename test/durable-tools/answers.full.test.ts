/** Answers to tools that ask much: in every order, early, and many in a row. INTERLUDE_TEST_SEED repeats a run. */
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { useService } from '../service/use-service.ts';
import { bundleTools } from './bundle-tools.ts';

const seed = Number(process.env['INTERLUDE_TEST_SEED'] ?? randomInt(2 ** 31));
process.stdout.write(`INTERLUDE_TEST_SEED=${seed}\n`);

const notesFile = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-notes-')), 'notes');
process.env['INTERLUDE_TEST_NOTES'] = notesFile;
afterAll(() => rmSync(path.dirname(notesFile), { recursive: true }));
beforeEach(() => writeFileSync(notesFile, ''));

/** Holds back the end of a question's opening, so that its answer overtakes it. */
let afterOpening: () => Promise<void> = async () => undefined;
const used = useService({
  env: { RATE_LIMIT_PER_MINUTE: '1000000' },
  tools: { assistant: await bundleTools() },
  around: (storage) => ({
    ...storage,
    elicitations: {
      ...storage.elicitations,
      async open(...given) {
        const opened = await storage.elicitations.open(...given);
        await afterOpening();
        return opened;
      },
    },
  }),
});

async function accept(conversation: string, elicitationId: string, word: string): Promise<void> {
  const given = { conversationId: conversation, elicitationId, action: 'accept', content: { word } };
  expect(await used.alice.answer(given)).toMatchObject({ status: 200 });
}

test('eight questions at once, answered in 50 shuffled orders, each get their own answer', async () => {
  const next = random(seed);
  for (let round = 0; round < 50; round++) {
    const conversation = randomUUID();
    const stream = await used.alice.chat('call survey {"questions":8}', { conversation });
    const questions = await stream.questions('pending', 8);
    const order = shuffled(questions, next);
    for (const { elicitationId, message } of order)
      await accept(conversation, elicitationId, message.replace('Question ', 'w'));
    await stream.finished();
    expect(stream.text(), `seed ${seed}, round ${round}, ${order.map(({ message }) => message).join()}`).toBe(
      'w0 w1 w2 w3 w4 w5 w6 w7',
    );
  }
}, 180_000);

test('a wizard of ten steps goes through all of them, with each effect once', async () => {
  const conversation = randomUUID();
  const stream = await used.alice.chat('call wizard {"steps":10}', { conversation });
  for (let step = 1; step <= 10; step++) {
    const question = (await stream.questions('pending', step))[step - 1];
    expect(question?.message).toContain(`Step ${step},`);
    await accept(conversation, question?.elicitationId ?? '', `w${step}`);
  }
  await stream.finished();
  expect(stream.text()).toBe('w1 w2 w3 w4 w5 w6 w7 w8 w9 w10');
  expect(readFileSync(notesFile, 'utf8').split('\n').slice(0, -1)).toEqual(
    Array.from({ length: 10 }, (_, index) => `${index + 1}: w${index + 1}`),
  );
});

test('an answer that comes before the tool knows that its question is open counts', async () => {
  const answered = Promise.withResolvers<void>();
  afterOpening = () => answered.promise;
  const conversation = randomUUID();
  const stream = await used.alice.chat('call wizard {"steps":1}', { conversation });
  const { elicitationId } = await stream.question('pending');
  const given = { conversationId: conversation, elicitationId, action: 'accept', content: { word: 'early' } };
  expect(await used.alice.answer(given)).toMatchObject({ status: 200 });
  answered.resolve();
  await stream.finished();
  expect(stream.text()).toBe('early');
});

function shuffled<T>(items: T[], next: () => number): T[] {
  return items
    .map((item) => ({ item, at: next() }))
    .toSorted((left, right) => left.at - right.at)
    .map(({ item }) => item);
}

/** mulberry32: the same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
