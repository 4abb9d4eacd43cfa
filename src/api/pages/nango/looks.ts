/** Keeps pages that ask again and again from asking Nango each time: it takes only so many requests a minute. */
import type { NangoArrivals } from '../../../service/nango-arrivals.ts';

type Look = NangoArrivals['look'];

const everyMs = 3_000;
/** With more at a time the oldest are forgotten, and may be looked for sooner. */
const maxRemembered = 1_000;

/** The same, but for each attempt not sooner than after a while; until then its last answer, or failure, is repeated. */
export function nowAndThen(look: Look, now: () => number = () => performance.now()): Look {
  const last = new Map<string, { at: number; answer: ReturnType<Look> }>();
  return (attemptId, address) => {
    const known = last.get(attemptId);
    if (known && now() - known.at < everyMs) return known.answer;
    const answer = look(attemptId, address);
    last.delete(attemptId);
    last.set(attemptId, { at: now(), answer });
    const [oldest] = last.keys();
    if (last.size > maxRemembered && oldest !== undefined) last.delete(oldest);
    return answer;
  };
}
