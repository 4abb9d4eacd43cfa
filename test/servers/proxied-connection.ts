/** One connection through the proxy: passes on bytes, and fails where the test says. */
import type { Socket } from 'node:net';

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

/** `stall`: nothing more from the service is read, so that it feels it; `half-close`: what it still says is lost. */
export type Mishap = 'cut' | 'half-close' | 'stall';

export interface Interruption {
  kind: Mishap;
  /** Counted from the connection's start, HTTP headers included, or from its interruption before this one. */
  at: StreamPoint;
}

export interface Line {
  cut(): void;
  halfClose(): void;
  stall(): void;
  /** Ends a stall. */
  goOn(): void;
}

export type ProxiedConnection = ReturnType<typeof proxied>;

interface Ends {
  index: number;
  far: Promise<Socket | undefined>;
  plan: Interruption[];
}

export function proxied(near: Socket, { index, far, plan }: Ends) {
  let receivedBytes = 0;
  let isHalfClosed = false;
  let isCut = false;
  let gate: PromiseWithResolvers<void> | undefined;
  const stalledWaiting: (() => void)[] = [];
  const nearClosed = new Promise<void>((resolve) => near.once('close', () => resolve()));

  const goOn = () => {
    gate?.resolve();
    gate = undefined;
  };
  const mishaps: Record<Mishap, () => void> = {
    cut() {
      isCut = true;
      near.resetAndDestroy();
    },
    'half-close'() {
      isHalfClosed = true;
      near.end();
    },
    stall() {
      gate ??= Promise.withResolvers();
      for (const resolve of stalledWaiting.splice(0)) resolve();
    },
  };

  const pass = async (bytes: Buffer): Promise<void> => {
    await gate?.promise;
    if (bytes.length === 0 || isHalfClosed || near.destroyed) return;
    // With the kernel before anything else happens: a reset throws away what is still ours.
    const error = await new Promise<unknown>((resolve) => near.write(bytes, resolve));
    if (!error) receivedBytes += bytes.length;
  };

  async function forward(service: Socket): Promise<void> {
    near.pipe(service);
    // Nothing could be passed on to it, by which it would otherwise be noticed to have left.
    near.once('end', () => gate && near.destroy());
    const [...ahead] = plan;
    let interruption = ahead.shift();
    let locate = interruption && createLocator(interruption.at);
    // An end that has finished sending may still read.
    for await (const chunk of service.iterator({ destroyOnReturn: false })) {
      let rest: Buffer = chunk;
      for (let at = locate?.(rest); interruption && at !== undefined; at = locate?.(rest)) {
        await pass(rest.subarray(0, at));
        rest = rest.subarray(at);
        mishaps[interruption.kind]();
        interruption = ahead.shift();
        locate = interruption && createLocator(interruption.at);
      }
      await pass(rest);
    }
    await gate?.promise;
    if (!isHalfClosed) near.end();
  }

  const closed = (async () => {
    const service = await far;
    if (!service || near.destroyed) {
      near.resetAndDestroy();
      service?.destroy();
    } else {
      void nearClosed.then(() => {
        goOn();
        if (isCut) service.resetAndDestroy();
        else service.destroy();
      });
      await forward(service).catch(() => near.resetAndDestroy());
    }
    await nearClosed;
  })();

  return {
    /** From 0, in the order of arrival. */
    index,
    /** What the client has sent. */
    get sentBytes() {
      return near.bytesRead;
    },
    /** What was passed on to the client. */
    get receivedBytes() {
      return receivedBytes;
    },
    cut: mishaps.cut,
    halfClose: mishaps['half-close'],
    stall: mishaps.stall,
    /** Ends a stall. */
    goOn,
    /** Resolves when it stalls; at once while it does. */
    stalled: () => (gate ? Promise.resolve() : new Promise<void>((resolve) => stalledWaiting.push(resolve))),
    /** Resolves when both ends are closed. */
    closed,
  };
}
