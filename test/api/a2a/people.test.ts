/** Whose person a caller of A2A has: keys that act for users, and who may finish what a foreign agent was asked. */
import { beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../../../src/service/api-keys.ts';
import { openBrowser } from '../../browsers/plain-browser.ts';
import { connectAccount, signIn } from '../../service/connect-account.ts';
import { useService } from '../../service/use-service.ts';
import { answerOf, connectAgent, stateOf, wordsOf } from './a2a-client.ts';

const { service } = useService();
let acting: string;

beforeAll(async () => {
  acting = await createApiKey(service.storage, 'demo', null, { actsForUsers: true });
});

const actingFor = (user?: string, token = acting) =>
  connectAgent(service, { token, headers: user === undefined ? {} : { 'x-interlude-user': user } });
const linkIn = (words: string) => /https?:\/\/\S+\/auth\/connect\S*/.exec(words)?.[0] ?? '';
const auditOf = async (elicitationId: string) =>
  (await service.storage.audit.ofElicitation(elicitationId)).map(({ actor, detail }) => [actor, detail]);

test('a key that acts for users has the tasks of the user it names, and of nobody else', async () => {
  const forAlice = await actingFor('alice');
  const { id } = await forAlice.send('hello');
  expect(stateOf(await (await connectAgent(service)).get(id))).toBe('COMPLETED');
  for (const other of [
    await actingFor('bob'),
    await actingFor(),
    await connectAgent(service, { user: 'bob' }),
  ])
    await expect(other.get(id)).rejects.toThrow(/no task/);
});

test('a key without the right that names a user is refused, and no task begins', async () => {
  const plain = await actingFor('alice', await service.apiKey());
  await expect(plain.send('hello')).rejects.toThrow(/may not act for users/);
});

test('behind a key that names nobody, nobody is asked', async () => {
  const task = await (await actingFor()).send('list my open issues');
  expect(stateOf(task)).toBe('COMPLETED');
});

test('whoever comes to the connect page through a foreign agent signs in, and has to be the one who was asked', async () => {
  const foreign = await actingFor('alice');
  const asked = await foreign.send('list my open issues');
  expect(stateOf(asked)).toBe('AUTH_REQUIRED');
  const link = linkIn(wordsOf(asked));
  expect(link).not.toBe('');

  const stranger = openBrowser();
  const refused = await signIn(stranger, 'bob', link);
  expect(refused.status).toBe(403);
  const elicitationId = new URL(link).searchParams.get('e') ?? '';
  expect(await auditOf(elicitationId)).toContainEqual(['bob', 'another user']);
  expect(stateOf(await foreign.get(asked.id))).toBe('AUTH_REQUIRED');
  for (const user of ['alice', 'bob'])
    expect(await service.storage.connections.get({ tenant: 'demo', server: 'tracker', user })).toBeNull();

  await connectAccount('alice', link);
  await expect.poll(async () => stateOf(await foreign.get(asked.id))).toBe('COMPLETED');
  expect(answerOf(await foreign.get(asked.id))).toContain('Checkout');
  expect(service.tracker.calls).toMatchObject([{ account: 'alice' }]);
});
