/** Accounts in an editor: with links and without, and what the clock does to a dialog. */
import { expect, test } from 'vitest';
import { connectAccount } from '../../../../test/service/connect-account.ts';
import { useService } from '../../../../test/service/use-service.ts';
import { openEditor } from './open-editor.ts';

const { service } = useService();
const hasty = useService({ env: { ELICITATION_TIMEOUT: '6s' } });

const listing = 'list my open issues';
const end = { stopReason: 'end_turn' };

test('without links, nobody is asked, and the words say where accounts are connected', async () => {
  const editor = await openEditor(service, { capabilities: { elicitation: { form: {} } } });
  const id = await editor.newSession();
  expect(await editor.prompt(id, listing)).toEqual(end);
  expect(editor.elicitations).toEqual([]);
  expect(editor.said(id)).toContain(`${service.baseUrl}/connections`);
  expect(editor.said(id)).not.toContain('?e=');
  editor.close();
});

test('a link whose time is up is taken away, is not told as done, and the prompt goes on', async () => {
  const editor = await openEditor(hasty.service, { answer: () => new Promise(() => undefined) });
  const id = await editor.newSession();
  expect(await editor.prompt(id, listing)).toEqual(end);
  expect([editor.elicitations.length, editor.withdrawn, editor.completed]).toEqual([1, 1, []]);
  editor.close();
});

test('a link is agreed to, the account connected, and the call goes out again', async () => {
  const editor = await openEditor(service, { answer: () => ({ action: 'accept' }) });
  const id = await editor.newSession();
  const prompted = editor.prompt(id, listing);
  await editor.until(() => editor.elicitations.length === 1);
  const [asked] = editor.elicitations;
  if (!asked || !('url' in asked)) throw new Error('no link was asked about');
  const { url } = asked;
  expect(String(url)).toContain(`${service.baseUrl}/auth/connect?e=`);
  await connectAccount('alice', String(url));
  expect(await prompted).toEqual(end);
  expect(editor.completed).toEqual([asked['elicitationId']]);
  expect(editor.said(id)).toMatch(/^Here they are: #/);
  editor.close();
});
