import { expect, test } from 'vitest';
import { cutsOfFeed, cutsOfStream, feedsToldWrong, streamsToldWrong } from './cuts.ts';

/** Thousands of connections, one after another. */
const longTimeout = { timeout: 180_000 };

test(
  'wherever the stream is cut, to the byte, the reader is told the same story once',
  longTimeout,
  async () => {
    expect(await streamsToldWrong(cutsOfStream())).toEqual([]);
  },
);

test.each([false, true])(
  'wherever the feed is cut, to the byte, every event comes once: operations %s',
  longTimeout,
  async (operations) => {
    expect(await feedsToldWrong(cutsOfFeed(operations), operations)).toEqual([]);
  },
);
