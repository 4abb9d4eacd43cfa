/** What the page about MCP servers tells of the travel desk, done as it is written there. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startTravelDesk } from '../../demo/travel/travel.ts';
import { startDevelopmentServer } from '../development-server.ts';
import { freePort } from '../free-port.ts';
import { nthQuestion } from '../service/asking.ts';
import type { AskedForm } from '../service/asking.ts';
import { startService } from '../service/service.ts';

const page = new URL('../../docs/mcp.md', import.meta.url);
const agentsFile = fileURLToPath(new URL('../../demo/agents.yaml', import.meta.url));

interface Body {
  id: string;
  messages: [{ parts: [{ text: string }] }];
}
interface Shown {
  data: { requestedSchema: { properties: object; required: string[] }; context: object };
}
interface Answer {
  content: { departure: string };
}

/** The page's JSON: its command's body, what the stream says, and the answer, with a day that is still to come. */
async function readPage(): Promise<{ body: Body; shown: Shown; answer: Answer }> {
  const text = await readFile(page, 'utf8');
  const [, body = ''] = /-d '(\{"id":"trip-1".*)'$/m.exec(text) ?? [];
  const [shown = '', answer = ''] = [...text.matchAll(/^```json\n(.*?)^```$/gms)].map(
    ([, json = '']) => json,
  );
  const { departure } = (JSON.parse(answer) as Answer).content;
  const soon = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  return {
    body: JSON.parse(body) as Body,
    shown: JSON.parse(shown) as Shown,
    answer: JSON.parse(answer.replaceAll(departure, soon)) as Answer,
  };
}

test('booking a trip goes as its page says', async () => {
  const { body, shown, answer } = await readPage();
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'travel-'));
  stack.defer(() => rm(dataDir, { recursive: true }));
  const temporal = await startDevelopmentServer();
  stack.defer(() => temporal.stop());
  const desk = await startTravelDesk({ port: 0, dataDir });
  stack.defer(() => desk.stop());
  const ports = {
    DEMO_TRACKER_PORT: String(await freePort()),
    DEMO_TRAVEL_PORT: new URL(desk.url).port,
  };
  const service = await startService({ temporal, env: { INTERLUDE_CONFIG: agentsFile, ...ports } });
  stack.defer(() => service.stop());

  const alice = await service.as('alice');
  const stream = await alice.chat(body.messages[0].parts[0].text, { conversation: body.id });
  const question = await nthQuestion(stream, 0);
  const { requestedSchema, context, ...rest } = shown.data;
  const { '…': others, ...properties } = requestedSchema.properties as Record<string, object>;
  expect(others).toEqual({});
  const { elicitationId: _, expiresAt: __, ...said } = rest as Partial<AskedForm>;
  expect(question).toMatchObject({
    ...said,
    requestedSchema: { properties },
    context: { ...context, host: new URL(desk.url).host },
  });
  const required = requestedSchema.required.slice(0, -1);
  expect(question.requestedSchema['required']).toEqual(expect.arrayContaining(required));

  const { elicitationId } = question;
  const reply = await alice.request('POST', '/run/api/elicitation-responses', { ...answer, elicitationId });
  expect(reply).toMatchObject({ status: 200, body: { status: 'accept' } });
  await stream.finished();
  expect(stream.text()).toContain('Lisbon');
  const [trip] = desk.books.trips.slice(-1);
  expect(trip).toMatchObject({ traveller: 'Alice Archer', nights: 3, budget: 1200, windowSeat: true });
  expect(trip).not.toHaveProperty('loyaltyNumber');
});
