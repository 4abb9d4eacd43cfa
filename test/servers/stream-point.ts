/** A point in a byte stream: after `bytes`, or after the nth occurrence of a text, which may be split over chunks. */
export type StreamPoint = { bytes: number } | { after: string; times?: number; plusBytes?: number };

/**
 * Call the result once with every chunk, in order: it returns the offset of the point in this chunk, or undefined when the
 * point lies elsewhere. A point at a chunk's end is in that chunk.
 */
export function createLocator(point: StreamPoint): (chunk: Buffer) => number | undefined {
  let left = 'bytes' in point ? point.bytes : undefined;
  const count = (chunk: Buffer, from: number): number | undefined => {
    if (left === undefined) return undefined;
    const at = from + left;
    left -= chunk.length - from;
    return at <= chunk.length ? at : undefined;
  };
  if ('bytes' in point) return (chunk) => count(chunk, 0);

  const { after, times = 1, plusBytes = 0 } = point;
  const text = Buffer.from(after);
  let missing = times;
  let tail = Buffer.alloc(0);
  return (chunk) => {
    if (left !== undefined) return count(chunk, 0);
    const seen = Buffer.concat([tail, chunk]);
    let from = 0;
    while (missing > 0) {
      const found = seen.indexOf(text, from);
      if (found === -1) break;
      missing -= 1;
      from = found + text.length;
    }
    const before = tail.length;
    tail = seen.subarray(Math.max(from, seen.length - text.length + 1));
    if (missing > 0) return undefined;
    left = plusBytes;
    return count(chunk, from - before);
  };
}
