/**
 * Connections that are cut off after a number of bytes, half of them in good order and half of them destroyed: which
 * readers were told something else than one whose connection held. The daily suite takes a sample of the places, the
 * full one takes every byte.
 */
import type { ServerResponse } from 'node:http';
import { expect, inject, test } from 'vitest';
import { createClient } from '../src/client.ts';
import { feedText, log, take, withOperations } from './feed-log.ts';
import { printedText } from './printed-text.ts';
import {
  beginStream,
  conversationOf,
  sendStream,
  startStreamServer,
  toEvents,
  wholeTurn,
} from './stream-server.ts';
import type { Reply } from './stream-server.ts';

const timing = { firstRetryMs: 1, lastRetryMs: 4, silenceMs: 20_000, giveUpMs: 10_000 };
const wholeStream = Buffer.from(`: stream-open\n\n${toEvents(wholeTurn)}data: [DONE]\n\n`);
const feedPath = (operations: boolean) => (operations ? '/?operations=true' : '/');

/** 31 is prime and odd: the places fall everywhere in an event, and on both ways of being cut off. */
const every = inject('suite') === 'daily' ? 31 : 1;
const cutsOf = (bytes: Buffer) =>
  Array.from({ length: bytes.length }, (_, at) => at).filter((at) => at % every === 0);

/** Thousands of connections, one after another. */
const longTimeout = { timeout: 180_000 };

test('wherever the stream is cut, the reader is told the same story once', longTimeout, async () => {
  expect(await streamsToldWrong(cutsOf(wholeStream))).toEqual([]);
});

test.each([false, true])(
  'wherever the feed is cut, every event comes once: operations %s',
  longTimeout,
  async (operations) => {
    const cuts = cutsOf(Buffer.from(feedText(feedPath(operations))));
    expect(await feedsToldWrong(cuts, operations)).toEqual([]);
  },
);

/** The places where a cut changed what the reader of a turn gets. */
async function streamsToldWrong(cuts: number[]): Promise<number[]> {
  await using server = await serve((response, nth, _path, body) => {
    const cut = Number(conversationOf(body).split('.')[1]);
    if (nth > 0 || Number.isNaN(cut)) return sendStream(response, wholeTurn);
    beginStream(response);
    cutOff(response, wholeStream, cut);
  });
  const tell = (conversationId: string) =>
    printedText(server.client.start({ conversationId, message: { id: 'm-1', text: 'List my issues' } }));
  const expected = await tell('whole');
  expect(expected).toContain('look – gleich, 見て 👀.¶');

  const wrong = await wrongOf(cuts, async (cut) => (await tell(`cut.${cut}`)) === expected);
  const finishAt = wholeStream.indexOf('"finish"}\n\n') + '"finish"}\n\n'.length;
  const unfinished = cuts.filter((cut) => cut < finishAt);
  expect(unfinished.length).toBeGreaterThan(30);
  expect(server.requests.length).toBeGreaterThan(cuts.length + unfinished.length);
  return wrong;
}

/** The places where a cut changed what the reader of a feed gets. */
async function feedsToldWrong(cuts: number[], operations: boolean): Promise<number[]> {
  const expected = JSON.stringify(operations ? withOperations : log);
  await using server = await serve((response, nth, path) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(feedText(path));
    if (nth > 0 || path.includes('after=')) return void response.write(bytes);
    cutOff(response, bytes, Number(path.split('/')[4]));
  });
  const wrong = await wrongOf(cuts, async (cut) => {
    const items = server.client.events(String(cut), { operations });
    return JSON.stringify(await take(items, (operations ? withOperations : log).length)) === expected;
  });
  expect(server.requests.length).toBeGreaterThan(1.9 * cuts.length);
  return wrong;
}

function cutOff(response: ServerResponse, bytes: Buffer, at: number): void {
  if (at % 2) response.end(bytes.subarray(0, at));
  else response.write(bytes.subarray(0, at), () => response.destroy());
}

async function wrongOf(cuts: number[], isRight: (cut: number) => Promise<boolean>): Promise<number[]> {
  const wrong: number[] = [];
  for (let first = 0; first < cuts.length; first += 40) {
    const batch = cuts.slice(first, first + 40);
    await Promise.all(batch.map(async (cut) => void ((await isRight(cut)) || wrong.push(cut))));
  }
  return wrong;
}

async function serve(reply: Reply) {
  const server = await startStreamServer(reply);
  const client = createClient({
    baseUrl: server.url,
    token: 'secret',
    capabilities: { url: true, form: false },
    timing,
  });
  return { client, requests: server.requests, [Symbol.asyncDispose]: server.stop };
}
