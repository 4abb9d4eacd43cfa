/** Event streams as bare as Fastify serves them: what a stream costs when nothing is behind it. */
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import type { Floor } from './floor-client.ts';
import { tokenText } from './doubles/model.ts';

export async function startFloorStreams(): Promise<Pick<Floor, 'streams' | 'broadcast'>> {
  const app = Fastify();
  const open = new Set<PassThrough>();
  app.get('/', async (_, reply) => {
    const stream = new PassThrough();
    open.add(stream);
    reply.raw.once('close', () => open.delete(stream));
    stream.write(': stream-open\n\n');
    return reply.headers({ 'content-type': 'text/event-stream' }).send(stream);
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    streams: async () => ({ url }),
    async broadcast({ tokens, everyMs }) {
      const before = process.cpuUsage();
      for (let token = 0; token < tokens; token++) {
        await sleep(everyMs);
        for (const stream of open) {
          const chunk = { type: 'text-delta', id: '0', delta: tokenText(token) };
          stream.write(`data: ${JSON.stringify(chunk)}\n\n`);
        }
      }
      for (const stream of open) stream.end();
      const { user, system } = process.cpuUsage(before);
      return { cpu: (user + system) / 1000 };
    },
  };
}
