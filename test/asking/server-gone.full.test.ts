/** A server that is away when people have answered, or dies with their answers in its hands. */
import { describe, expect, test } from 'vitest';
import { asks, dies, form, page } from '../servers/scripted-mcp-server.ts';
import { accept, city, useAskingService } from './asking-service.ts';

const one = asks({ one: form('One') }, 's1');
const answers = { one: { action: 'accept', content: { city: 'Lisbon' } } };

describe('a tool that must not be repeated', () => {
  const setup = useAskingService();
  const { begin } = setup;

  test('the answers wait for a server that is being restarted, and are sent once', async () => {
    const turn = await begin([one]);
    await turn.question(0);
    await setup.server.leave();
    expect(await turn.answer(0, city())).toMatchObject({ status: 200, body: { status: 'accept' } });
    await turn.stream.until(({ type, data }) => type === 'data-elicitation-request' && isAccepted(data));
    await setup.server.comeBack();
    expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
    expect(setup.server.calls.map(({ params: { inputResponses } }) => inputResponses)).toEqual([
      undefined,
      answers,
    ]);
  });

  test('a server that dies with the answers leaves an unknown outcome, and is not called again', async () => {
    const turn = await begin([one, dies]);
    await turn.answer(0, city());
    const { error } = await turn.end();
    expect(error).toContain('unknown whether the action took place');
    expect(setup.server.calls).toHaveLength(2);
  });

  test('a server that is busy has not taken the answers: they are sent again', async () => {
    const turn = await begin([one, (_, response) => void response.writeHead(429).end()]);
    await turn.answer(0, city());
    expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
    expect(setup.server.calls.map(({ params: { inputResponses } }) => inputResponses)).toEqual([
      undefined,
      answers,
      answers,
    ]);
  });

  test('a server that is away before it has asked anything was not called', async () => {
    await setup.server.leave();
    const turn = await begin([one]);
    expect((await turn.end()).error).toMatch(/Asking .*cannot be reached.*The tool did not run/s);
    await setup.server.comeBack();
  });

  test('cancelling while the answers wait for their server ends the turn at once', async () => {
    const turn = await begin([one]);
    await turn.question(0);
    await setup.server.leave();
    await turn.answer(0, city());
    await setup.alice.cancel(turn.conversation);
    expect((await turn.stream.finished()).at(-1)).toMatchObject({ type: 'abort' });
    await setup.server.comeBack();
    expect(setup.server.calls).toHaveLength(1);
  });
});

describe('a tool that is declared idempotent', () => {
  const setup = useAskingService({ annotations: { idempotentHint: true } });
  const { begin } = setup;

  test('gets the same answers again after its server died with them', async () => {
    const turn = await begin([one, dies]);
    await turn.answer(0, city());
    expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
    expect(setup.server.calls.slice(1).map(({ params: { inputResponses } }) => inputResponses)).toEqual([
      answers,
      answers,
    ]);
  });

  test('is not repeated for ever', async () => {
    const turn = await begin([asks({ page: page('https://example.com/') }), dies, dies, dies, dies]);
    await turn.answer(0, accept());
    expect((await turn.end()).error).toContain('unknown whether the action took place');
    expect(setup.server.calls).toHaveLength(4);
  });
});

function isAccepted(data: unknown): boolean {
  return (data as { status: string }).status === 'accept';
}
