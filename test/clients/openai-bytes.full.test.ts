/**
 * A turn with a question, byte for byte, against the rules by which OpenAI's clients decode a stream. Python's is the
 * strict one: once it has seen an `id:`, a comment is for it an event without data, which it fails to parse.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { ChatCompletionChunkSchema } from '@interlude-ai/core/contract/openai.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';

const { service } = useService();
let response: Response;
let body = '';

beforeAll(async () => {
  response = await fetch(`${service.baseUrl}/run/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await service.token('alice')}`,
      'content-type': 'application/json',
      'x-supports-elicitation': 'true',
      'x-emit-operations': 'true',
    },
    body: JSON.stringify({
      model: 'assistant',
      messages: [{ role: 'user', content: 'list my open issues' }],
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
  let isAnswered = false;
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    body += text;
    // Not before there was a comment between the question and its answer.
    if (isAnswered || !body.includes(': keep-alive')) continue;
    isAnswered = true;
    const [, url = ''] = /"url":"([^"]+)"/.exec(body) ?? [];
    await connectAccount('alice', url);
  }
});

const blocks = () => body.split('\n\n').slice(0, -1);
const comments = () => blocks().filter((block) => block.startsWith(':'));
const data = () =>
  blocks()
    .filter((block) => !block.startsWith(':'))
    .map((block) => block.replace(/^data: /, ''));

describe('the bytes of a turn with a question', () => {
  test('are an event stream that no proxy should hold back', () => {
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
  });

  const rules: [rule: string, isKept: () => boolean][] = [
    ['every block ends in one blank line', () => body.endsWith('\n\n') && !body.includes('\n\n\n')],
    ['lines end in LF alone', () => !body.includes('\r')],
    ['every block is one line', () => blocks().every((block) => !block.includes('\n'))],
    ['every line is a comment or data', () => blocks().every((block) => /^(: |data: )/.test(block))],
    ['there is no id, retry or event line', () => !/^(id|retry|event)\b/m.test(body)],
    ['no data is empty', () => data().every((line) => line.trim() !== '')],
    ['the first bytes are a comment', () => body.startsWith(': ')],
    ['silence is filled with comments', () => comments().includes(': keep-alive')],
    ['the last data is [DONE]', () => data().at(-1) === '[DONE]'],
    ['[DONE] comes once', () => data().filter((line) => line === '[DONE]').length === 1],
  ];
  test.each(rules)('%s', (_rule, isKept) => {
    expect(data().length).toBeGreaterThan(5);
    expect(isKept()).toBe(true);
  });

  test('carry nothing but chunks, each with choices', () => {
    const chunks = data()
      .slice(0, -1)
      .map((line) => ChatCompletionChunkSchema.parse(JSON.parse(line)));
    for (const chunk of chunks) {
      expect(Object.keys(chunk).filter((key) => key !== 'elicitation')).toEqual([
        'id',
        'object',
        'created',
        'model',
        'choices',
        'usage',
      ]);
      expect(chunk.choices).toHaveLength(chunk.usage ? 0 : 1);
    }
    expect(chunks.flatMap(({ elicitation }) => elicitation?.status ?? [])).toEqual(['pending', 'accept']);
    const asking = chunks.filter(({ elicitation }) => elicitation);
    // Proxies drop members of a chunk that they do not know, and keep these.
    for (const { choices, elicitation } of asking)
      expect(choices[0]?.delta).toEqual({ provider_specific_fields: { elicitation } });
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop']);
    expect(chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])).toHaveLength(2);
    expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0);
  });
});
