/** What is let in on purpose has to do no harm further inside: whole turns about it, on both databases. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { postgresUrl } from '../../postgres.ts';
import { useService } from '../../service/use-service.ts';

const key = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

const texts: [what: string, text: string][] = [
  ['a NUL character', 'a\0b'],
  ['half a character', 'a\ud800b'],
  ['the other half first', 'a\udc00\ud800b'],
  ['a character of two halves', 'a😀b'],
  ['what ends an event', 'a\r\n\r\ndata: b\n\nid: 7'],
  ['line ends of other alphabets', 'a\u2028b\u2029c\u0085d'],
  ['what turns text around', 'a\u202eb\ufeffc'],
  ['a hundred thousand letters', 'x'.repeat(100_000)],
];

describe.each([
  ['node:sqlite', async () => ({})],
  ['PostgreSQL', async () => ({ DATABASE_URL: await postgresUrl(), INTERLUDE_KEYS: key })],
])('on %s', (_, environment) => {
  const { alice } = useService({ needs: async () => ({ env: await environment() }) });

  test.each(texts)(
    'a message with %s comes back as it was said, in the stream and later',
    async (_what, text) => {
      const conversation = randomUUID();
      const stream = await alice.chat(text, { conversation });
      await stream.finished();
      // Half a character reaches no model.
      const answer = `You said: ${text.toWellFormed()}`;
      expect(stream.text()).toBe(answer);
      const { status, body } = await alice.request('GET', `/run/v1/conversations/${conversation}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        messages: {
          items: [
            { parts: [{ text }] },
            { parts: expect.arrayContaining([expect.objectContaining({ text: answer })]) },
          ],
        },
      });
    },
  );
});
