/**
 * The gauges that come from the database. Every process reads them, so that they do not depend on one of them; queries
 * take the largest. They are read at most every 15 seconds, however many systems collect metrics.
 */
import type { Figures } from '../../storage/ports/figures.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import { observeFigures } from './instruments.ts';

const freshMs = 15_000;
/** While the database does not answer, the gauges are missing, and the scrape is on time. */
const longestMs = 2_000;

/** Until the returned function is called. */
export function watchFigures({ figures }: { figures(): Promise<Figures> }, limitMs = freshMs): () => void {
  let read: { at: number; figures: Promise<Figures | null> } | undefined;
  return observeFigures(() => {
    if (!read || performance.now() - read.at >= limitMs) {
      const reading = figures().catch(() => null);
      read = { at: performance.now(), figures: withTimeout(reading, longestMs, null, { ref: false }) };
    }
    return read.figures;
  });
}
