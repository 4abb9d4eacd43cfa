/**
 * A port for a server that has to know it before it listens, below the range for outgoing connections, which could take
 * it in between. The process holds the UDP port of the same number until it ends, so that test files that run side by
 * side never get the same port.
 */
import { createSocket } from 'node:dgram';
import { isFree } from '../src/platform/network/ports.ts';

// Of those above 10,000, `fetch` refuses to connect to 10080 and to no other.
const first = 10_100;
const count = 20_000;

let next = (process.pid * 100) % count;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (next++ % count);
    if ((await isKept(port)) && (await isFree(port, '127.0.0.1'))) return port;
  }
}

function isKept(port: number): Promise<boolean> {
  const mark = createSocket('udp4').unref();
  return new Promise((resolve) => {
    mark.once('error', () => {
      mark.close();
      resolve(false);
    });
    mark.bind({ port, address: '127.0.0.1' }, () => resolve(true));
  });
}
