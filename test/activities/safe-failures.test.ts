/** How failures of activities are logged, and which of them use up attempts. */
import { Writable } from 'node:stream';
import type { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { safeFailures } from '../../src/activities/safe-failures.ts';
import { DatabaseUnavailable } from '../../src/storage/transient-errors.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';

interface Attempt {
  attempt: number;
  isLocal: boolean;
  error: Error;
}

const [warn, error] = [40, 50];

async function failing({ attempt, isLocal, error: thrown }: Attempt) {
  const levels: number[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      levels.push((JSON.parse(chunk.toString()) as { level: number }).level);
      done();
    },
  });
  const retryPolicy = isLocal ? {} : { maximumAttempts: 5 };
  const info = { activityType: 'endTurn', attempt, isLocal, retryPolicy };
  const logger = createLogger({ level: 'info', human: false }, destination);
  const { inbound } = safeFailures(logger)({ info } as Context);
  const work = inbound?.execute?.({ args: [], headers: {} }, () => Promise.reject(thrown));
  const failure = await work?.catch((caught: unknown) => caught);
  if (!(failure instanceof ApplicationFailure)) throw new Error('every failure is one of ours');
  return { levels, type: failure.type, isFinal: failure.nonRetryable === true };
}

const refused = new DatabaseUnavailable(
  Object.assign(new Error('password authentication failed'), { code: '28P01' }),
);
const bug = new TypeError('undefined is not a function');

test.each([true, false])(
  'the database’s trouble is a warning however often it is met (local: %s)',
  async (isLocal) => {
    for (const attempt of [1, 5, 500])
      expect(await failing({ attempt, isLocal, error: refused })).toEqual({
        levels: [warn],
        type: 'DatabaseTrouble',
        isFinal: false,
      });
  },
);

test('a mistake in a local activity is a warning until its fifth attempt, which is the last', async () => {
  const final = { type: 'ActivityFailed' };
  for (const attempt of [1, 4])
    expect(await failing({ attempt, isLocal: true, error: bug })).toEqual({
      ...final,
      levels: [warn],
      isFinal: false,
    });
  expect(await failing({ attempt: 5, isLocal: true, error: bug })).toEqual({
    ...final,
    levels: [error],
    isFinal: true,
  });
});

test('a mistake in another activity is an error at the last attempt that its policy allows', async () => {
  expect(await failing({ attempt: 4, isLocal: false, error: bug })).toMatchObject({ levels: [warn] });
  expect(await failing({ attempt: 5, isLocal: false, error: bug })).toMatchObject({ levels: [error] });
});
