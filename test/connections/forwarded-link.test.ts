/** Forwarded links, against the whole service: turns that wait, Tracker, and two people with browsers. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { hiddenFields, onward } from '../api/pages/browser.ts';
import { openBrowser } from '../browsers/plain-browser.ts';
import { signIn } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';

const { service } = useService({ per: 'test', env: { RETURN_URLS: 'https://app.example/chat/' } });

async function ask(user: 'alice' | 'bob') {
  const caller = await service.as(user);
  const conversation = randomUUID();
  const stream = await caller.chat('list my open issues', { conversation });
  return { caller, conversation, stream, question: await stream.question('pending') };
}

const keyOf = (user: string) => ({ tenant: 'demo', server: 'tracker', user });

/** Where the page with "Connect" leads, without going there. */
async function providerLink(url: string, user: 'alice' | 'bob') {
  const browser = openBrowser();
  const page = await signIn(browser, user, url);
  const leaving = await browser.send(`${service.baseUrl}/auth/connect`, {
    method: 'POST',
    headers: { origin: service.baseUrl },
    body: new URLSearchParams({ ...hiddenFields(page.html), action: 'connect' }),
  });
  const link = onward({ text: await leaving.text() });
  expect(new URL(link).origin).toBe(service.tracker.origin);
  return { browser, link };
}

test('an attacker who forwards the provider’s page gets nobody’s account, and neither does the victim get theirs', async () => {
  const bob = await ask('bob');
  const alice = await ask('alice');
  const { browser: bobs, link } = await providerLink(bob.question.url, 'bob');

  const victim = openBrowser();
  await signIn(victim, 'alice', alice.question.url);
  const consent = await victim.press(await victim.get(link), 'Continue as alice');
  const landed = await victim.press(consent, 'Allow');
  expect(landed.url.pathname).toMatch(/^\/auth\/callback\/[\w-]{22}$/);
  expect(landed.status).toBe(400);
  expect(landed.text).toContain('This cannot be finished here');
  for (const user of ['alice', 'bob']) expect(await service.storage.connections.get(keyOf(user))).toBeNull();
  for (const { question } of [alice, bob]) {
    expect(await service.storage.elicitations.get(question.elicitationId)).toMatchObject({
      status: 'pending',
    });
  }
  expect(service.tracker.calls).toEqual([]);
  expect(await service.storage.audit.ofElicitation('')).toMatchObject([
    {
      tenant: 'demo',
      actor: 'alice',
      action: 'refused',
      detail: 'callback without an attempt in this browser',
    },
  ]);

  // Where it was begun it can still be finished, by the person who began it.
  const back = await bobs.press(await bobs.press(await bobs.get(link), 'Continue as bob'), 'Allow');
  expect(back.text).toContain('Tracker is connected');
  await bob.stream.finished();
  expect(service.tracker.calls).toMatchObject([{ account: 'bob' }]);
  expect(await service.storage.connections.get(keyOf('alice'))).toBeNull();
  await alice.caller.cancel(alice.conversation);
  await alice.stream.finished();
});

test('an attacker who forwards his question has nobody answer it for him', async () => {
  const bob = await ask('bob');
  const victim = openBrowser();
  const page = await signIn(victim, 'alice', bob.question.url);
  expect([page.status, page.buttons.filter((words) => words.includes('Connect'))]).toEqual([403, []]);
  expect(page.text).not.toMatch(/Tracker|Bob/);
  expect(await service.storage.audit.ofElicitation(bob.question.elicitationId)).toMatchObject([
    { actor: 'alice', action: 'refused', detail: 'another user' },
  ]);
  expect(await service.storage.elicitations.get(bob.question.elicitationId)).toMatchObject({
    status: 'pending',
  });
  await bob.caller.cancel(bob.conversation);
  await bob.stream.finished();
});

test('a link with a way back leads home in the end, and one with another way back leads nowhere', async () => {
  const alice = await ask('alice');
  const browser = openBrowser();
  const home = 'https://app.example/chat/42';
  const page = await signIn(browser, 'alice', `${alice.question.url}&returnUrl=${home}`);
  const evil = await browser.get(`${alice.question.url}&returnUrl=https://evil.example/chat/42`);
  expect([evil.status, evil.links, evil.buttons]).toEqual([400, [], []]);
  const consent = await browser.press(await browser.press(page, 'Connect'), 'Continue as alice');
  const done = await browser.press(consent, 'Allow');
  expect(done.text).toContain('Tracker is connected');
  expect(done.links).toEqual([{ text: 'Back to app.example', href: home }]);
  await alice.stream.finished();
  expect(service.tracker.calls).toMatchObject([{ account: 'alice' }]);
});
