/**
 * The time as the service has it, out of the `Date` of its answers. One answer says only so much: it was written some
 * time between its request and its arrival, and in whole seconds. So what is known is moved as far as an answer contradicts
 * it, and a clock that is right is left alone.
 */
export interface ServiceClock {
  /** In milliseconds since 1970, as `Date.now()`; the machine's own time until the first answer. */
  now(): number;
  /** `sentAt`: when it was asked for, by the machine's own clock. */
  hear(answer: Response, sentAt: number): void;
}

export function createServiceClock(): ServiceClock {
  let aheadMs = 0;
  return {
    now: () => Date.now() - aheadMs,
    hear({ headers }, sentAt) {
      const second = Date.parse(headers.get('date') ?? '');
      // A proxy may hide it, and so may a browser.
      if (Number.isNaN(second)) return;
      const least = sentAt - (second + 999);
      const most = Date.now() - second;
      aheadMs = Math.min(Math.max(aheadMs, least), most);
    },
  };
}
