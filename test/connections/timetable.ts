/** How long people waited, printed when a file is through. Numbers never fail. */
import { afterAll } from 'vitest';

interface Line {
  scenario: string;
  sees: string;
  ms: number;
}

export interface Timetable {
  /** From now on; the answer ends it with what the person sees then. */
  start(scenario: string): (sees: string) => void;
}

/** For the top of a test file. */
export function timetable(title: string): Timetable {
  const lines: Line[] = [];
  afterAll(() => {
    if (lines.length === 0) return;
    const width = Math.max(...lines.map(({ scenario }) => scenario.length));
    const rows = lines.map(
      ({ scenario, sees, ms }) =>
        `${scenario.padEnd(width)}  ${(ms / 1000).toFixed(2).padStart(7)} s  ${sees}`,
    );
    process.stdout.write(`\n${title}\n${rows.join('\n')}\n`);
  });
  return {
    start(scenario) {
      const from = performance.now();
      return (sees) => void lines.push({ scenario, sees, ms: performance.now() - from });
    },
  };
}
