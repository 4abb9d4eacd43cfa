/** `examples/support-agent`: its command, through every question, and its own tests. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { textOf } from '../e2e/watch.ts';
import { openExample } from './run-example.ts';
import type { Example } from './run-example.ts';

let example: Example;
beforeEach(async () => {
  example = await openExample('support-agent');
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') process.stderr.write(`${example.output()}\n`);
  await example.stop();
});

test('a refund is looked up, judged, explained, approved after a crash, and made once', async () => {
  await example.start();
  const asked: [trigger: string, agent: string | undefined][] = [];
  const ask = async (text: string, answer: (question: ElicitationRequest) => Promise<object>) => {
    let last;
    const turn = example.client('alice').start(
      { message: { text } },
      {
        async onElicitation(question) {
          asked.push([question.context.trigger, question.context.agent]);
          return { action: 'accept', ...(await answer(question)) };
        },
      },
    );
    for await (const view of turn) last = view;
    return last && textOf(last);
  };
  const end = await ask('The customer of order 1042 wants a refund.', async ({ context }) => {
    if (context.trigger !== 'approval')
      return { content: { reason: 'damaged', note: 'left side is silent' } };
    expect(JSON.parse(context.arguments ?? '')).toEqual({
      order: '1042',
      euros: 89,
      reason: 'damaged: left side is silent',
    });
    await example.kill();
    await example.start();
    return {};
  });
  expect(end).toContain('Refunded: 89 euros for order 1042 (damaged: left side is silent).');
  expect(asked).toEqual([
    ['tool_elicitation', 'Support'],
    ['approval', 'Support'],
  ]);
  expect(example.read('refunds.txt')).toBe('1042 89 euros, damaged: left side is silent\n');

  const refused = await ask('The customer of order 1044 wants a refund.', () => {
    throw new Error('Nothing is asked about an order that is too old.');
  });
  expect(refused).toContain('Nothing was refunded. No: it was delivered 95 days ago');
  const again = await ask('Refund order 1042.', ({ context }) =>
    Promise.resolve(context.trigger === 'approval' ? {} : { content: { reason: 'damaged' } }),
  );
  expect(again).toContain('Order 1042 was refunded before.');
});

test('its own tests pass', async () => {
  const { stdout } = await promisify(execFile)('npx', ['interlude', 'test'], {
    cwd: example.folder,
    env: bareEnvironment(),
  });
  expect(stdout).toMatch(/pass 3\n.*fail 0/s);
});
