/** What attacks begin with: people at their pages, and the way to say what an attack has changed. */
import type { AuditEntry } from '../../src/storage/schema/question-tables.ts';
import { hiddenFields, onward } from '../api/pages/browser.ts';
import type { Shown } from '../api/pages/browser.ts';
import sent from '../api/pages/open-redirects.json' with { type: 'json' };
import { setUpPages } from '../api/pages/pages-setup.ts';
import { startGuardedServer } from '../credentials/guarded-server.ts';

export type AttackedPages = Awaited<ReturnType<typeof createAttackedPages>>;

export async function createAttackedPages() {
  const tracker = await startGuardedServer();
  const ledger = await startGuardedServer();
  const other = { ...ledger.config, name: 'ledger', title: 'Ledger' };
  const setup = await setUpPages(tracker.config, {}, [other], {
    returnUrls: sent.returnUrls,
  });
  const { publicUrl } = setup;

  /** A question of this user, opened in a browser in which they have signed in. */
  async function at(user: 'alice' | 'bob', id: string) {
    await setup.ask({ id, user });
    return setup.openAs(user, id);
  }

  return {
    ...setup,
    tracker,
    ledger,
    at,
    /** A person who is about to return from the provider. */
    async backFromProvider(user: 'alice' | 'bob', id: string) {
      const { browser, page } = await at(user, id);
      const leaving = onward(await browser.press(page, { action: 'connect' }));
      const callback = await browser.until(leaving, `${publicUrl}/auth/callback`);
      return { browser, page, leaving, callback: new URL(callback.url) };
    },
    /** Everything but the audit. */
    state(): Record<string, unknown[]> {
      const { audit: _, ...rest } = setup.dump();
      return rest;
    },
    audited: () => setup.dump()['audit'] as unknown as AuditEntry[],
  };
}

export function formOf(page: Shown, button: Record<string, string>): Record<string, string> {
  return { ...hiddenFields(page.text), ...button };
}
