/** What a stranger tries: words that call people, events too large, clicks from another workspace, and a Slack that talks nonsense or not at all. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { someKeys } from '../../e2e/deployment.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import type { Fault } from '../../servers/slack/chat.ts';
import { said, untilTaken, useAskingInSlack } from './asking-in-slack.ts';
import { addGlobex } from './globex.ts';

const setup = await useAskingInSlack({ env: { INTERLUDE_KEYS: someKeys } });
const { begin, opened, press, submit, statusOf, chat, slack, acme, server, views } = setup;
beforeAll(() => addGlobex(slack, setup.service.storage.slack));
afterEach(() => {
  chat.fault = () => undefined;
});

const evil = '<!channel> <@U2> <https://evil.example|your bank> &lt;!here&gt; *_~`';
const callsSomebody = /<!(?:channel|here|everyone|subteam)|<@(?!U1>)|<https:\/\/evil/;
const city = (message = 'Which city?', title = 'City') => [
  asks({ trip: form(message, { city: { type: 'string', title } }) }),
];

test('names, questions and answers that would call people call nobody', async () => {
  acme.addUser('UE', { name: evil });
  const asked = await begin(city(evil, evil));
  const { message, elicitationId } = await asked.question();
  expect(message.text).toContain('your bank');
  expect(JSON.stringify(message)).not.toMatch(callsSomebody);
  const window = await setup.openWindow({ by: 'U1', button: 'Answer', message });
  const { blocks } = window.view;
  expect(JSON.stringify(blocks.filter(({ type }) => type !== 'input'))).toContain(
    JSON.stringify(evil).slice(1, -1),
  );
  // To the letter, where Slack reads no markup.
  const marked = JSON.stringify(blocks, (key, value: unknown) =>
    (value as { type?: string } | null)?.type === 'plain_text' ? undefined : value,
  );
  expect(marked).not.toMatch(callsSomebody);
  await submit(window, { [evil]: evil });
  await untilTaken(window);
  await asked.end();
  expect(await statusOf(elicitationId)).toBe('accept');
  // A name that a message mentions, and what the model makes of it, in a stream and as a whole.
  for (const channel of ['C1', 'C2']) {
    chat.streamsInChannels = channel === 'C1';
    const { ts } = await setup.write({
      by: 'U1',
      channel,
      text: `<@${acme.botUser}> greet <@UE> &lt;!channel&gt;`,
    });
    await expect.poll(() => chat.texts(channel, ts).join('')).toContain('greet');
    expect(chat.texts(channel, ts).join('')).not.toMatch(/<[!@#]/);
  }
  chat.streamsInChannels = true;
});

test('the same user id of another workspace of the same tenant is somebody else, with clicks and windows', async () => {
  const asked = await begin(city());
  const window = await opened(asked);
  const { message } = await asked.question();
  const before = views.opened.length;
  for (const button of ['Answer', 'Not now']) await press({ by: 'U1', button, message, team: 'T2' });
  const forged = await submit(window, { City: 'Oslo' }, { team: 'T2', metadata: window.elicitationId });
  expect(forged.body).toContain('This is for another person');
  const refused = async () =>
    (await setup.service.storage.audit.ofElicitation(window.elicitationId)).filter(
      ({ action, actor }) => action === 'refused' && actor === 'bob',
    ).length;
  await expect.poll(refused).toBe(3);
  expect(views.opened).toHaveLength(before);
  expect(await statusOf(window.elicitationId)).toBe('pending');
  await submit(window, { City: 'Oslo' });
  await asked.end();
});

test('a window that was sent already, or that names another question of the same person, answers what it names and once', async () => {
  const first = await begin(city());
  const one = await opened(first);
  const second = await begin(city('And which one now?'), { channel: 'C2' });
  const two = await opened(second);
  await submit(one, { City: 'Oslo' });
  await untilTaken(one);
  await first.end();
  const replayed = { ...one, view: { ...one.view, callback_id: 'question' } };
  const again = await submit(replayed, {}, { metadata: one.elicitationId });
  expect(again.body).toContain('This question is settled already. Answered.');
  // An id of nothing that is asked, of another type, or longer than any.
  for (const metadata of ['', '{}', 'x'.repeat(3_000), '../elicitations'])
    expect((await submit(two, { City: 'Rome' }, { metadata })).status).toBe(200);
  expect(await statusOf(two.elicitationId)).toBe('pending');
  await submit(two, { City: 'Rome' });
  await untilTaken(two);
  await second.end();
  expect(server.calls.at(-1)?.params.inputResponses?.['trip']).toMatchObject({ content: { city: 'Rome' } });
});

test('an event of more than a megabyte is refused, and one of just below is a turn or a word', async () => {
  const url = `${setup.service.baseUrl}/slack/events`;
  const event = (length: number, ts: string) => ({
    type: 'message',
    channel: 'DU1',
    channel_type: 'im',
    user: 'U1',
    text: 'x'.repeat(length),
    ts,
  });
  const big = await slack.sendEvent(url, event(1_000_001, '1.000001'), { team: 'T1', eventId: 'EvBig' });
  expect(big.status).toBe(413);
  const ts = slack.nextTs();
  expect((await slack.sendEvent(url, event(990_000, ts), { team: 'T1' })).status).toBe(200);
  await expect.poll(() => chat.texts('DU1', ts).join('').length, { timeout: 60_000 }).toBeGreaterThan(0);
  expect(chat.texts('DU1', '1.000001')).toEqual([]);
});

test('a Slack that answers with pages, breaks or is silent for a minute: the answer is there once it is back', async () => {
  const back = Promise.withResolvers<void>();
  const faults: Fault[] = [
    { kind: 'page', status: 200 },
    { kind: 'page', status: 500 },
    { kind: 'page', status: 404 },
    { kind: 'stuck', until: back.promise },
  ];
  // Whichever way the answer is begun.
  chat.fault = ({ method }) =>
    method === 'chat.startStream' || method === 'chat.postMessage' ? faults.shift() : undefined;
  const { ts, result } = await setup.ask('hello');
  back.resolve();
  expect(faults).toEqual([]);
  expect(result).toEqual({ status: 'delivered' });
  expect(chat.texts('C1', ts)).toEqual(['You said: hello']);
  // A window that is not opened in time says nothing in the thread, and can be asked for again.
  const asked = await begin(city());
  const { message, elicitationId } = await asked.question();
  const open = slack.methods.get('views.open');
  const silent = Promise.withResolvers<Record<string, unknown>>();
  const called = Promise.withResolvers<void>();
  slack.methods.set('views.open', () => {
    called.resolve();
    return silent.promise;
  });
  await press({ by: 'U1', button: 'Answer', message });
  await called.promise;
  if (open) slack.methods.set('views.open', open);
  const window = await setup.openWindow({ by: 'U1', button: 'Answer', message });
  silent.resolve({});
  expect(said(window)).toContain('Which city?');
  await submit(window, { City: 'Oslo' });
  await untilTaken(window);
  await asked.end();
  expect(await statusOf(elicitationId)).toBe('accept');
});
