/** Answers that are costly to read: their server gets an error, and other calls go on meanwhile. */
import { beforeAll, expect, test } from 'vitest';
import { form, raw } from '../servers/hostile-server.ts';
import type { Trick } from '../servers/hostile-server.ts';
import { callTool, useHostileService } from '../service/hostile-call.ts';
import type { Caller } from '../service/user.ts';

const megabyte = 1024 * 1024;
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

/** `schema` is JSON, or something like it. */
function withSchema(schema: string): Trick {
  const question = JSON.stringify(form({ requestedSchema: 0 })).replace(
    '"requestedSchema":0',
    `"requestedSchema":${schema}`,
  );
  return raw(`"result":{"resultType":"input_required","inputRequests":{"q":${question}}}`);
}

const fields = (json: string) => withSchema(`{"type":"object","properties":{${json}}}`);
const manyFields = (count: number) =>
  fields(Array.from({ length: count }, (_, n) => `"f${n}":{"type":"string","title":"Field ${n}"}`).join());

/** The message again and again, and then the answer. `TOKEN` is where we want to hear how far the call has come. */
function flood(notification: object, bytes: number): Trick {
  const event = `data: ${JSON.stringify({ jsonrpc: '2.0', ...notification })}\n\n`;
  return ({ id, params }, response) => {
    const result = { resultType: 'complete', content: [{ type: 'text', text: 'at last' }] };
    const token = JSON.stringify(params?._meta?.['progressToken'] ?? 0);
    const piece = event.replace('"TOKEN"', token);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(piece.repeat(Math.floor(bytes / piece.length)));
    response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
  };
}

/** Read to the end, or given up at the deadline of 15 s: messages are slow to read on a busy machine. */
const inTime = /^$|did not answer within 15 s/;
const log = { method: 'notifications/message', params: { level: 'info', data: 'x' } };
const progress = {
  method: 'notifications/progress',
  params: { progressToken: 'TOKEN', progress: 1, message: 'x' },
};
const unheardOf = { method: 'notifications/x' };

const unreadable = /answered in a form that cannot be read/;

const tricks: Record<string, [fault: RegExp, trick: Trick]> = {
  schema_9mb: [
    /more than 65536 characters/,
    fields(`"a":{"type":"string","description":"${'x'.repeat(9 * megabyte)}"}`),
  ],
  schema_10mb: [
    /larger than 10 MB/,
    fields(`"a":{"type":"string","description":"${'x'.repeat(10 * megabyte)}"}`),
  ],
  schema_9mb_of_escapes: [
    /more than 65536 characters/,
    fields(`"a":{"type":"string","description":"${'\\u0041'.repeat((9 * megabyte) / 6)}"}`),
  ],
  fields_100000: [/more than 65536 characters/, manyFields(100_000)],
  fields_100: [/at most 64 fields/, manyFields(100)],
  choices_100000: [
    /more than 65536 characters/,
    fields(`"a":{"enum":[${Array.from({ length: 100_000 }, (_, n) => `"${n}"`).join()}]}`),
  ],
  choices_1000: [
    /at most 500/,
    fields(`"a":{"enum":[${Array.from({ length: 1_000 }, (_, n) => `"${n}"`).join()}]}`),
  ],
  deep_1000000: [/more than 65536/, withSchema(`{"type":"object","properties":${nested(1_000_000)}}`)],
  deep_10000: [/nested|properties/, withSchema(`{"type":"object","x-note":${nested(10_000)}}`)],
  deep_objects: [
    /more than 65536/,
    withSchema(`${'{"type":"object","properties":{"a":'.repeat(100_000)}1${'}}'.repeat(100_000)}`),
  ],
  deep_result: [unreadable, raw(`"result":{"content":[],"structuredContent":${nested(1_000_000)}}`)],
  deep_block: [
    unreadable,
    raw(`"result":{"content":[{"type":"text","text":"x","_meta":${nested(1_000_000)}}]}`),
  ],
  deep_keys: [
    /not a map/,
    raw(`"result":{"resultType":"input_required","inputRequests":${nested(1_000_000)}}`),
  ],
  deep_error: [
    /refused the call: no/,
    raw(`"error":{"code":-32602,"message":"no","data":${nested(1_000_000)}}`),
  ],
  keys_100000: [
    /more than 20 questions/,
    raw(
      `"result":{"resultType":"input_required","inputRequests":{${Array.from({ length: 100_000 }, (_, n) => `"q${n}":{}`).join()}}}`,
    ),
  ],
  flood_of_logs: [inTime, flood(log, 9 * megabyte)],
  flood_of_progress: [inTime, flood(progress, 9 * megabyte)],
  flood_of_the_unheard_of: [inTime, flood(unheardOf, 9 * megabyte)],
  flood_of_questions: [inTime, flood({ id: 1, ...form() }, 9 * megabyte)],
};

const { server, service, alice } = useHostileService({
  era: 'modern',
  tricks: Object.fromEntries(Object.entries(tricks).map(([name, [, trick]]) => [name, trick])),
});
let bob: Caller;

beforeAll(async () => {
  bob = await service.as('bob');
  await (await alice.chat('hello')).finished();
});

/** The longest time for which nothing else ran, in milliseconds of the thread's own: other processes do not lengthen it. */
function watchThread(): { stop: () => number } {
  let before = process.threadCpuUsage();
  let longest = 0;
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1e3);
    before = process.threadCpuUsage();
  };
  const timer = setInterval(look, 5);
  return {
    stop() {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}

test.each(Object.entries(tricks))('%s keeps nobody else waiting', async (tool, [fault]) => {
  const held = watchThread();
  const served = bob.chat('hello').then((stream) => stream.finished());
  const { error, asked, chunks } = await callTool(alice, tool);
  await served;
  const longestMs = held.stop();
  expect(chunks.length).toBeLessThan(200);
  expect(error).toMatch(fault);
  expect(asked).toEqual([]);
  expect(server.count('response')).toBe(0);
  // What these once took was several seconds.
  expect(longestMs).toBeLessThan(1_000);
});
