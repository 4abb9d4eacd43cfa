/** How many turns one person may begin in a minute, as over HTTP. Each process counts for itself. */

const windowMs = 60_000;
/** Of more people than that, the oldest are forgotten. */
const mostNames = 10_000;

export function createStartLimit(perMinute: number, now: () => number = Date.now): (name: string) => boolean {
  const counted = new Map<string, { times: number; until: number }>();
  return (name) => {
    const known = counted.get(name);
    const entry = known && known.until > now() ? known : { times: 0, until: now() + windowMs };
    if (entry.times >= perMinute) return false;
    counted.delete(name);
    counted.set(name, { ...entry, times: entry.times + 1 });
    const [oldest] = counted.keys();
    if (counted.size > mostNames && oldest !== undefined) counted.delete(oldest);
    return true;
  };
}
