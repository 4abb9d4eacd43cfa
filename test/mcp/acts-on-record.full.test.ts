/** What MCP clients do to questions: one audit entry for each act, and no content in logs. */
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { createApiKey } from '../../src/service/api-keys.ts';
import { useAskingService } from '../asking/asking-service.ts';
import { asks, form } from '../servers/scripted-mcp-server.ts';
import type { StartClient, UserAnswer } from './clients/other-client.ts';
import { startSdkV1, startSdkV2 } from './clients/typescript-clients.ts';
import { rawRequest } from './mcp-client.ts';

const lines: string[] = [];
const setup = useAskingService({
  logger: pino({ level: 'trace' }, { write: (line) => void lines.push(line) }),
});
const call = { name: 'ask_assistant', arguments: { message: 'call asking__ask {"words":"Xinputx"}' } };
const question = () => asks({ city: form('Xmessagex') });
afterAll(() => setup.service.endTurns());

interface Line {
  elicitationId?: string;
  outcome?: string;
}

/** The one question that has ended, as the log tells it. */
async function endOfQuestion() {
  const ends = () =>
    lines
      .map((line) => JSON.parse(line) as Line)
      .filter(({ elicitationId, outcome }) => elicitationId !== undefined && outcome !== undefined);
  await expect.poll(ends).toHaveLength(1);
  const [{ elicitationId = '', outcome } = {}] = ends();
  const audit = await setup.service.storage.audit.ofElicitation(elicitationId);
  return { outcome, audit: audit.map(({ action, actor, detail }) => ({ action, actor, detail })) };
}

function expectNothingSaid(): void {
  const log = lines.join('\n');
  for (const word of ['Xmessagex', 'Xanswerx', 'Xinputx'])
    expect([word, log.includes(word)]).toEqual([word, false]);
}

const all = { form: true, url: true } as const;
const ways: [way: string, start: StartClient, shows: object][] = [
  ['asked by the result', (setting) => startSdkV2('auto', setting), all],
  ['asked on the stream', startSdkV1, all],
  ['asked in words', (setting) => startSdkV2('auto', setting), {}],
];
const answers: UserAnswer[] = [
  { action: 'accept', content: { city: 'Xanswerx' } },
  { action: 'decline' },
  { action: 'cancel' },
];

test.each(ways.flatMap(([way, start, shows]) => answers.map((given) => ({ way, start, shows, given }))))(
  '$way: $given.action is one act of its user, and nothing of it is logged',
  async ({ start, shows, given }) => {
    lines.splice(0);
    setup.server.play(question());
    await using client = await start({
      url: `${setup.service.baseUrl}/run/v1/mcp`,
      token: await setup.service.token('alice'),
      shows,
      answer: () => Promise.resolve(given),
      onPageDone: () => undefined,
    });
    const { elicitId } = await client.call(call.name, call.arguments);
    if (elicitId !== undefined) await client.call('sendElicitationResult', { elicitId, ...given });
    expect(await endOfQuestion()).toEqual({
      outcome: given.action,
      audit: [{ action: 'answered', actor: 'alice', detail: given.action }],
    });
    expectNothingSaid();
  },
);

test.each([
  ['by the result', { elicitation: { form: {} } }],
  ['in words', {}],
])('a key that acts for a user is on record as that, asked %s, and only once', async (_, capabilities) => {
  lines.splice(0);
  setup.server.play(question());
  const key = await createApiKey(setup.service.storage, 'demo', null, { actsForUsers: true });
  const { baseUrl } = setup.service;
  const program = { baseUrl, token: () => Promise.resolve(key) };
  const headers = { 'x-interlude-user': 'alice' };
  const request = async (params: object) =>
    (await rawRequest(program, 'tools/call', { ...params }, capabilities, { headers })).result ?? {};

  const asked = await request(call);
  const { requestState, inputRequests, _meta } = asked as {
    requestState?: string;
    inputRequests?: object;
    _meta?: { elicitationPending?: { elicitId: string } };
  };
  const given = { action: 'accept', content: { city: 'Xanswerx' } };
  const [id = ''] = Object.keys(inputRequests ?? {});
  const elicitId = _meta?.elicitationPending?.elicitId;
  const answer = elicitId
    ? { name: 'sendElicitationResult', arguments: { elicitId, ...given } }
    : { ...call, requestState, inputResponses: { [id]: given } };
  expect(await request(answer)).toMatchObject({ content: [{ text: 'done' }, {}] });
  // The same answer again is the same act.
  await request(answer);
  expect(await endOfQuestion()).toEqual({
    outcome: 'accept',
    audit: [{ action: 'answered', actor: `key ${key.split('_')[1]} for alice`, detail: 'accept' }],
  });
  expectNothingSaid();
  expect(lines.join('\n')).not.toContain(key);
});
