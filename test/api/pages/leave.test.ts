/** Pages on the way to an address that others have named: they open it by themselves, so they open web pages only. */
import { expect, test } from 'vitest';
import { onwardPage } from '../../../src/api/pages/question/answer-pages.ts';
import { leaveByNango, leaveTo } from '../../../src/api/pages/connect.ts';
import { en } from '../../../src/api/pages/words/en.ts';

const server = { title: 'Tracker' };

const accountsAt = (url: string) => ({ beginAuthorization: async () => ({ url }) });
const nangoAt = (pageUrl: string) =>
  ({ begin: async () => ({ pageUrl }) }) as unknown as Parameters<typeof leaveByNango>[1];
const leaving = (url: string) => [
  leaveTo(en, accountsAt(url), { server } as Parameters<typeof leaveTo>[2]),
  leaveByNango(en, nangoAt(url), { server, elicitationId: null } as Parameters<typeof leaveByNango>[2]),
];
const answered = (url: string) => onwardPage(en, { kind: 'link', url, host: 'provider.example' });

test.each(['https://provider.example/authorize', 'http://127.0.0.1:4000/authorize'])(
  '%s is opened',
  async (url) => {
    for (const page of await Promise.all(leaving(url))) expect(page.onwardUrl).toBe(url);
    expect(answered(url).onwardUrl).toBe(url);
  },
);

test.each(['http://provider.example/authorize', 'vscode://localhost/x', 'ms-msdt://127.0.0.1/x'])(
  '%s is not opened, and is no link',
  async (url) => {
    const refused = {
      status: 'rejected',
      reason: { message: expect.stringContaining('https://') as string },
    };
    expect(await Promise.allSettled(leaving(url))).toMatchObject([refused, refused]);
    const { onwardUrl, body } = answered(url);
    expect(onwardUrl).toBeUndefined();
    expect(body.markup).not.toContain('href=');
    expect(body.markup).toContain(url);
  },
);
