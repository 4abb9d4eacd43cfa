/** A server was told that nobody can be asked: it has a grace period in which it may still answer the call without. */
export interface RefusalGracePeriod {
  /** The first reason counts. */
  start(reason: string): void;
  /** Why something the server asked was put to nobody; undefined if nothing was refused. */
  reason(): string | undefined;
  end(): void;
}

const gracePeriodMs = 5_000;

/** `onExpired` is called with the reason when no answer has come in that time. */
export function createRefusalGracePeriod(onExpired: (reason: string) => void): RefusalGracePeriod {
  let first: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    start(reason) {
      first ??= reason;
      timer ??= setTimeout(onExpired, gracePeriodMs, reason);
    },
    reason: () => first,
    end: () => clearTimeout(timer),
  };
}
