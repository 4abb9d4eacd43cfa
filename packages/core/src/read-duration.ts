/** `'500ms'`, `'90s'`, `'10m'`, `'1h'`, or a number of milliseconds. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h'}`;

const factors = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Node fires longer timers at once. */
const longestMs = 2 ** 31 - 1;

/** NaN if the text is no duration with a unit. */
export function inMilliseconds(text: string): number {
  const [, amount, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  return Number(amount) * factors[unit as keyof typeof factors];
}

export function readDuration(duration: Duration): number {
  const milliseconds = typeof duration === 'number' ? duration : inMilliseconds(duration);
  if (!(milliseconds > 0) || milliseconds === Infinity)
    throw new TypeError(
      `${JSON.stringify(duration)} is no duration; write for example '90s', or milliseconds`,
    );
  if (milliseconds > longestMs)
    throw new TypeError(`${JSON.stringify(duration)} is too long; a timer counts 24 days at most`);
  return milliseconds;
}
