/**
 * A port for a server that has to know it before it listens. From below the range that systems give to outgoing
 * connections, which would otherwise take it in between; a hundred for each process, so that test files running side
 * by side do not meet.
 */
import { isFree } from '../src/ports.ts';

let given = 0;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + (process.pid % 200) * 100 + (given++ % 100);
    if (await isFree(port, '127.0.0.1')) return port;
  }
}
