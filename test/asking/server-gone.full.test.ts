/** A server that is away when people have answered, or dies with their answers in its hands. */
import { describe, expect, test } from 'vitest';
import { asks, dies, form, page } from '../servers/playing-server.ts';
import { accept, city, useAskingService } from './asking-service.ts';

const one = asks({ one: form('One') }, 's1');
const answers = { one: { action: 'accept', content: { city: 'Lisbon' } } };

describe('a tool that must not be repeated', () => {
  const stage = useAskingService();
  const { begin } = stage;

  test('the answers wait for a server that is being restarted, and are sent once', async () => {
    const turn = await begin([one]);
    await turn.question(0);
    await stage.server.leave();
    expect(await turn.answer(0, city())).toMatchObject({ status: 200, body: { status: 'accept' } });
    await turn.stream.until(({ type, data }) => type === 'data-elicitation-request' && isAccepted(data));
    await stage.server.comeBack();
    expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
    expect(stage.server.calls.map(({ params: { inputResponses } }) => inputResponses)).toEqual([
      undefined,
      answers,
    ]);
  });

  test('a server that dies with the answers leaves an unknown outcome, and is not called again', async () => {
    const turn = await begin([one, dies]);
    await turn.answer(0, city());
    const { error } = await turn.end();
    expect(error).toContain('unknown whether the action took place');
    expect(stage.server.calls).toHaveLength(2);
  });

  test('a server that is busy has not taken the answers: they are sent again', async () => {
    const turn = await begin([one, (_, response) => void response.writeHead(429).end()]);
    await turn.answer(0, city());
    expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
    expect(stage.server.calls.map(({ params: { inputResponses } }) => inputResponses)).toEqual([
      undefined,
      answers,
      answers,
    ]);
  });

  test('a server that is away before it has asked anything was not called', async () => {
    await stage.server.leave();
    const turn = await begin([one]);
    expect((await turn.end()).error).toMatch(/Asking .*cannot be reached.*The tool did not run/s);
    await stage.server.comeBack();
  });

  test('cancelling while the answers wait for their server ends the turn at once', async () => {
    const turn = await begin([one]);
    await turn.question(0);
    await stage.server.leave();
    await turn.answer(0, city());
    await stage.alice.cancel(turn.conversation);
    expect((await turn.stream.finished()).at(-1)).toMatchObject({ type: 'abort' });
    await stage.server.comeBack();
    expect(stage.server.calls).toHaveLength(1);
  });
});

describe('a tool that is declared idempotent', () => {
  const stage = useAskingService({ annotations: { idempotentHint: true } });
  const { begin } = stage;

  test('gets the same answers again after its server died with them', async () => {
    const turn = await begin([one, dies]);
    await turn.answer(0, city());
    expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
    expect(stage.server.calls.slice(1).map(({ params: { inputResponses } }) => inputResponses)).toEqual([
      answers,
      answers,
    ]);
  });

  test('is not repeated for ever', async () => {
    const turn = await begin([asks({ page: page('https://example.com/') }), dies, dies, dies, dies]);
    await turn.answer(0, accept());
    expect((await turn.end()).error).toContain('unknown whether the action took place');
    expect(stage.server.calls).toHaveLength(4);
  });
});

function isAccepted(data: unknown): boolean {
  return (data as { status: string }).status === 'accept';
}
