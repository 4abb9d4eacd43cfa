/** Many open event streams, read with as little effort as possible: whoever reads shares the machine with the service. */
import { Agent, get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { eachOf } from './each-of.ts';

export interface Streams {
  /** Resolves when the other end has ended them all. */
  ended: Promise<void>;
  close(): void;
}

export interface StreamsOptions {
  count: number;
  url: (index: number) => string;
  headers?: Record<string, string>;
  heard?: (text: string, stream: number) => void;
}

/** Resolves when each has said its first word. */
export async function openStreams({ count, url, headers = {}, heard }: StreamsOptions): Promise<Streams> {
  const agent = new Agent({ maxSockets: Infinity });
  const open: IncomingMessage[] = [];
  const ends: Promise<void>[] = [];
  await eachOf(count, 20, async (index) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url(index), { agent, headers }, resolve).once('error', reject);
    });
    if (response.statusCode !== 200) throw new Error(`${url(index)} answered ${response.statusCode}`);
    open.push(response);
    ends.push(
      new Promise((resolve) => {
        response.once('end', resolve).once('error', () => resolve());
      }),
    );
    await new Promise<void>((resolve) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        resolve();
        heard?.(text, index);
      });
    });
  });
  return {
    ended: Promise.all(ends).then(() => undefined),
    close() {
      for (const response of open) response.destroy();
      agent.destroy();
    },
  };
}
