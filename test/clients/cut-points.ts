/** Where a stream of server-sent events can be cut: after each of its events, and inside them. */
import type { StreamPoint } from '../servers/stream-point.ts';

interface Points {
  /** Before the stream's end is written. */
  before: StreamPoint[];
  /** In what is written when the turn ends. */
  inEnd: StreamPoint[];
}

const after = (times: number, plusBytes = 0): StreamPoint => ({ after: '\n\n', times, plusBytes });

/** `events`: how many the stream has, comments included; `ending`: how many more come with the end. */
export function cutPoints(events: number, ending: number): Points {
  const boundaries = Array.from({ length: events + ending }, (_, index) => index + 1);
  const inside = boundaries
    .filter((times) => times % 3 === 0)
    .map((times) => after(times, 1 + ((times * 13) % 37)));
  // In the status line, in the headers, and between the bytes of letters.
  const early = [0, 1, 100].map((bytes): StreamPoint => ({ bytes }));
  const split = [2, 3, 4].flatMap((letter) =>
    [1, 2, 3].map((plusBytes): StreamPoint => ({ after: '"delta":"', times: letter, plusBytes })),
  );
  const all = [...early, ...split, ...boundaries.map((times) => after(times)), ...inside];
  const isBefore = (point: StreamPoint) =>
    'bytes' in point ||
    point.after !== '\n\n' ||
    (point.times ?? 1) < events ||
    (point.times === events && point.plusBytes === 0);
  return { before: all.filter(isBefore), inEnd: all.filter((point) => !isBefore(point)) };
}
