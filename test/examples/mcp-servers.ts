/** `examples/mcp-server-*`: the server and the service are killed while a person is asked, and the command is run again. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { textOf } from '../e2e/watch.ts';
import { openExample } from './run-example.ts';
import type { Example } from './run-example.ts';

export function testServer(name: string): void {
  let example: Example;
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(`${example.output()}\n`);
    await example.stop();
  });

  test(`${name} books once, also when all is killed while it asks`, async () => {
    example = await openExample(name);
    await example.start();
    await untilListening(Number(example.env['SERVER_PORT']));
    const client = example.client('alice');
    const asked = Promise.withResolvers<string>();
    const restarted = Promise.withResolvers<void>();
    const end = (async () => {
      let last;
      const turn = client.start(
        { message: { text: 'Book a table for four.' } },
        {
          async onElicitation({ message }) {
            asked.resolve(message);
            await restarted.promise;
            return { action: 'accept', content: { day: '2027-01-15', time: '19:30' } };
          },
        },
      );
      for await (const view of turn) last = view;
      return last && textOf(last);
    })();
    expect(await asked.promise).toBe('A table for 4: when?');
    await example.kill();
    await example.start();
    await untilListening(Number(example.env['SERVER_PORT']));
    restarted.resolve();
    expect(await end).toContain('Booked: a table for 4 on 2027-01-15 at 19:30.');
    expect(example.read('bookings.txt')).toBe('4 on 2027-01-15 at 19:30\n');
  });
}

async function untilListening(port: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect').finally(() => socket.destroy());
    },
    { timeout: 30_000 },
  );
}
