/** Third-party programs, when no answer comes in time, and when a link is done only once its page is. */
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { useService } from '../../service/use-service.ts';
import { asking, opening, skipWhere, unable } from './all-clients.ts';
import { noteKeptReplies } from '../kept-replies.ts';

const lisbon = { action: 'accept', content: { city: 'Lisbon' } } as const;

describe('a question that expires', { timeout: 120_000 }, () => {
  const setup = useAskingService({ env: { ELICITATION_TIMEOUT: '4s' } });
  const open = opening(() => setup.service);
  const begin = { message: 'call asking__ask {}' };
  const openQuestions = async () =>
    setup.service.storage.elicitations.openOf({ tenant: 'demo', user: 'alice' });
  // Or its call would be taken for one of the next test.
  const untilServerHasHeard = () => expect.poll(() => setup.server.calls).toHaveLength(2);
  /** The row says when it is too late, not this machine's clock. */
  const untilExpired = async () => {
    const [question] = await openQuestions();
    const status = async () => (await setup.service.storage.elicitations.get(question?.id ?? ''))?.status;
    await expect.poll(status).toBe('expired');
  };
  beforeEach(() => setup.server.play(asks({ city: form('Which city?') })));

  describe.each(asking)('$name', ({ start, missing, comesAgain }) => {
    skipWhere(missing);
    test('a late answer does not reach the tool, and the call ends', async () => {
      await using client = await open(start, [() => untilExpired().then(() => lisbon)]);
      const { text } = await client.call('ask_assistant', begin);
      expect(text).toMatch(comesAgain ? /^An answer was not used: The deadline has passed/ : /expired/);
      await untilServerHasHeard();
      expect(setup.server.calls.map(({ params }) => params.inputResponses)).not.toContainEqual({
        city: lisbon,
      });
      expect(client.asked).toHaveLength(1);
    });
  });

  describe.each(unable)('$name, which declares nothing', ({ start, missing }) => {
    skipWhere(missing);
    test('its model learns that it was too late, and how to go on', async () => {
      await using client = await open(start, [], {});
      const { elicitId } = await client.call('ask_assistant', begin);
      await untilExpired();
      // Some programs throw what a tool calls an error.
      const sent = await client.call('sendElicitationResult', { elicitId, ...lisbon }).catch(String);
      expect(JSON.stringify(sent)).toContain('The deadline has passed.');
      expect(JSON.stringify(sent)).toContain('wait_for_turn');
      await untilServerHasHeard();
      expect(setup.server.calls.map(({ params }) => params.inputResponses)).not.toContainEqual({
        city: lisbon,
      });
    });
  });
});

describe('an account that has to be connected', { timeout: 120_000 }, () => {
  const { kept, around } = noteKeptReplies();
  const used = useService({ around });
  const idIn = (url: string) => /e=([\w-]+)/.exec(url)?.[1];
  const open = opening(() => used.service);
  const begin = { message: 'list my open issues' };
  beforeEach(async () => {
    await used.alice.request('DELETE', '/run/v1/connections/tracker');
  });

  describe.each(asking.filter(({ showsNoLinks }) => !showsNoLinks))('$name', ({ name, start, missing }) => {
    skipWhere(missing);
    test.each(['before', 'after'])('its page is done %s the link is agreed to', async (when) => {
      let connected: Promise<unknown> | undefined;
      const isTold = when === 'after' && (name === 'SDK v1' || name === 'SDK v2, legacy');
      const agreed = async (url: string) => {
        if (isTold) await vi.waitUntil(() => kept.includes(idIn(url) ?? ''));
        else if (when === 'after') await delay(1_500);
      };
      await using client = await open(start, [
        async ({ url = '' }) => {
          connected = agreed(url).then(() => connectAccount('alice', url));
          if (when === 'before') await connected;
          return { action: 'accept' };
        },
      ]);
      const { text } = await client.call('ask_assistant', begin);
      await connected;
      expect(text).toMatch(/^Here they are: /);
      expect(client.asked).toMatchObject([{ mode: 'url', url: expect.stringContaining('/auth/connect?e=') }]);
      expect(client.pagesDone).toEqual(isTold ? [idIn(client.asked[0]?.url ?? '')] : []);
    });
  });

  describe.each(unable)('$name, which declares nothing', ({ start, missing }) => {
    skipWhere(missing);
    test('its model sends the user there, and goes on when they are back', async () => {
      await using client = await open(start, [], {});
      const { text, elicitId } = await client.call('ask_assistant', begin);
      const [url = ''] = /http\S+\/auth\/connect\?e=[\w-]+/.exec(text) ?? [];
      const connected = delay(1_500).then(() => connectAccount('alice', url));
      const ended = await client.call('sendElicitationResult', { elicitId, action: 'accept' });
      await connected;
      expect(ended.text).toMatch(/^Here they are: /);
    });
  });
});
