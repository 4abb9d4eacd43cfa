/** A feed of two turns, as the service writes it, for tests that cut and repeat it. */
import type { FeedItem } from '../src/follow.ts';

const at = '2026-11-21T12:00:00.000Z';

const said = ['Let me ', 'look – gleich, ', '見て ', '👀.'];
/** Two turns; numbers are missing where deltas were merged. */
export const log: FeedItem[] = [
  { seq: 1, event: { type: 'turn-started', agent: 'assistant', messageId: 'm1', turnId: 't1', at } },
  { seq: 2, event: { type: 'start-step', step: 0, turnId: 't1', at } },
  { seq: 3, event: { type: 'text-start', id: 'p1', turnId: 't1', at } },
  ...said.map((delta, index): FeedItem => ({
    seq: 4 + index,
    event: { type: 'text-delta', id: 'p1', delta, turnId: 't1', at },
  })),
  { seq: 8, event: { type: 'turn-ended', status: 'completed', turnId: 't1', at } },
  { seq: 20, event: { type: 'turn-started', agent: 'assistant', messageId: 'm2', turnId: 't2', at } },
  { seq: 21, event: { type: 'start-step', step: 0, turnId: 't2', at } },
  { seq: 22, event: { type: 'turn-ended', status: 'failed', turnId: 't2', at } },
];
const operation = (seq: number): FeedItem => ({
  seq: seq - 1,
  event: {
    type: 'data-operation',
    id: `op-${seq}`,
    data: { type: 'model_step', label: 'Step 1', details: { timestamp: at, agent: 'assistant', step: 0 } },
    turnId: seq < 20 ? 't1' : 't2',
    at,
  },
});
export const withOperations = log.flatMap((item) =>
  item.event.type === 'start-step' ? [operation(item.seq), item] : [item],
);

/** As the service writes it; `latest` is where the log ends now. */
export function feedText(path: string, latest = 22): string {
  const query = new URL(path, 'http://x').searchParams;
  const given = query.get('after');
  const after = given === 'latest' ? latest : Number(given ?? 0);
  const items = query.get('operations') === 'true' ? withOperations : log;
  const events = items
    .filter(({ seq, event }) => (event.type === 'data-operation' ? seq + 1 : seq) > after)
    .map(({ seq, event }) => {
      const data = `data: ${JSON.stringify(event)}\n\n`;
      return event.type === 'data-operation' ? data : `id: ${seq}\n${data}`;
    });
  return `: stream-open\n\nretry: 1000\nid: ${after}\n\n${events.join('')}`;
}

/** Reads until `count` items have come. */
export async function take(items: AsyncGenerator<FeedItem>, count: number): Promise<FeedItem[]> {
  const taken: FeedItem[] = [];
  if (count === 0) return taken;
  for await (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}
