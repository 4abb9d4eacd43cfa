/** What was approved in advance, on the page of what a person has answered. */
import { expect, test } from 'vitest';
import { Browser, words } from '../pages/browser.ts';
import { setUpPages } from '../pages/pages-setup.ts';

const approved = {
  tenant: 'demo',
  user: 'alice',
  server: 'tracker',
  place: 'tracker.example',
  tool: 'delete_issue',
  definition: '',
};

async function openAs(publicUrl: string, user: string) {
  const browser = new Browser();
  const signIn = await browser.open(`${publicUrl}/connections/history`);
  return { browser, page: await browser.press(signIn, { user }) };
}

test('is listed to whoever approved it, and withdrawn there', async () => {
  const { storage, publicUrl } = await setUpPages();
  await storage.approvals.remember({ ...approved, id: 'one', conversation: null });
  await storage.approvals.remember({ ...approved, id: 'two', conversation: 'c1', tool: 'close_issue' });
  const { browser, page } = await openAs(publicUrl, 'alice');
  const text = words(page);
  expect(text).toContain('Tracker: delete issue tracker.example · In all conversations, since ');
  expect(text).toContain('Tracker: close issue tracker.example · In one conversation, since ');

  const csrf = /name="csrf"\s+value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const withdraw = (by: Browser, fields: Record<string, string>, origin = publicUrl) =>
    by.post(`${publicUrl}/connections/approvals`, fields, origin);
  const others = await openAs(publicUrl, 'bob');
  expect(words(others.page)).not.toContain('delete issue');
  const bobs = /name="csrf"\s+value="([^"]+)"/.exec(others.page.text)?.[1] ?? '';
  await withdraw(others.browser, { approval: 'one', csrf: bobs });
  expect((await withdraw(browser, { approval: 'one', csrf }, 'https://evil.example')).status).toBe(403);
  expect((await withdraw(browser, { approval: 'one', csrf: 'guessed' })).status).toBe(403);
  expect((await withdraw(browser, { csrf })).status).toBe(400);
  expect(await storage.approvals.list(approved)).toHaveLength(2);

  for (let time = 0; time < 2; time++) {
    const after = await withdraw(browser, { approval: 'one', csrf });
    expect(after.url).toBe(`${publicUrl}/connections/history#approvals`);
    expect(words(after)).not.toContain('delete issue');
    expect(words(after)).toContain('close issue');
  }
});
