/** Signing in to a server that wants an account, at a strict authorization server: tokens kept, renewed, and nowhere to be read. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Browser } from '../../../../test/api/pages/browser.ts';
import { runLintCommand, runTryCommand } from './in-process.ts';
import { startStrictFiles } from '../../../../test/servers/strict-files.ts';
import type { StrictFiles } from '../../../../test/servers/strict-files.ts';
import { startCommand } from '../../../../test/cli/start-command.ts';
import type { TryEnd } from './in-process.ts';

let files: StrictFiles;
let home: string;
let opened: string[];
beforeEach(async () => {
  files = await startStrictFiles();
  home = mkdtempSync(path.join(tmpdir(), 'interlude-sign-in-'));
  opened = [];
});
afterEach(async () => {
  await files.stop();
  rmSync(home, { recursive: true });
});

const folder = () => path.join(home, 'interlude', 'servers');
const kept = () => {
  const [name = ''] = readdirSync(folder()).filter((file) => file.endsWith('.json'));
  const file = path.join(folder(), name);
  const account = JSON.parse(readFileSync(file, 'utf8')) as {
    tokens: { access_token: string; refresh_token?: string };
  };
  return { file, ...account };
};

/** At a terminal with a browser in which the person agrees. */
function signedIn(words: string[]): Promise<TryEnd> {
  const open = (url: string) => {
    opened.push(url);
    void new Browser().open(url);
  };
  return runTryCommand([...words, files.url], [''], { XDG_CONFIG_HOME: home }, { isTerminal: true, open });
}
const alone = (words: string[]) => runTryCommand([...words, files.url], [], { XDG_CONFIG_HOME: home });
const look = ['--tool', 'look'];

test('somebody signs in once; the tokens are theirs alone, and later commands need neither browser nor terminal', async () => {
  const first = await signedIn(look);
  expect([first.code, first.errors]).toEqual([0, expect.stringContaining('Sign in in your browser')]);
  expect(files.calls.map(({ account }) => account)).toEqual(['alice']);
  expect(opened).toHaveLength(1);
  expect(new URL(opened[0] ?? '').searchParams.get('redirect_uri')).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/callback$/,
  );
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  expect(statSync(kept().file).mode & 0o777).toBe(0o600);
  expect((await alone(look)).code).toBe(0);
  expect(opened).toHaveLength(1);
});

test('a token that is not good any more is renewed, by one of those who find out', async () => {
  await signedIn(look);
  const before = kept().tokens;
  await files.authorization.drop(before.access_token);
  const ends = await Promise.all([alone(look), alone(look), alone(look)]);
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(kept().tokens.access_token).not.toBe(before.access_token);
  const renewals = files.authorization.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token');
  expect(renewals).toMatchObject([{ error: null, resource: files.url }]);
});

test('where nobody can sign in, that is said; a grant that was taken back is signed in for anew', async () => {
  const refused = await alone(look);
  expect([refused.code, refused.errors]).toEqual([
    2,
    expect.stringContaining('Give a token with --token, or run it in a terminal'),
  ]);
  await signedIn(look);
  await files.authorization.withdraw('alice');
  expect((await alone(look)).code).toBe(2);
  expect((await signedIn(look)).code).toBe(0);
  expect(opened).toHaveLength(2);
});

test.each(['vscode://localhost/x', 'ms-msdt://127.0.0.1/x', 'http://evil.example/authorize'])(
  'a sign-in page at %s is not opened',
  async (page) => {
    files.authorization.metadata = { authorization_endpoint: page };
    const { code, errors } = await signedIn(look);
    expect([code, errors]).toEqual([2, expect.stringContaining('Signing in to')]);
    expect(errors).not.toContain('go to:');
    expect(opened).toEqual([]);
  },
);

test('a tool that needs more than was agreed to: somebody agrees to that as well, or it is said', async () => {
  const save = ['--tool', 'save'];
  await signedIn(look);
  const refused = await alone(save);
  expect([refused.code, refused.errors]).toEqual([
    2,
    expect.stringContaining('more rights than this account has given'),
  ]);
  expect((await signedIn(save)).code).toBe(0);
  expect(new URL(opened[1] ?? '').searchParams.get('scope')).toContain('files:write');
  expect(files.calls.map(({ tool }) => tool)).toEqual(['look', 'save']);
});

test('who does not agree is told so, and nothing is kept', async () => {
  files.authorization.person.agrees = 'to nothing';
  const { code, errors } = await signedIn(look);
  expect([code, errors]).toEqual([2, expect.stringContaining('failed: it was refused (access_denied)')]);
  expect(readdirSync(folder()).filter((file) => file.endsWith('.json'))).toEqual([]);
});

test('no token is in what is printed, in the recording, or in what --json says', async () => {
  const cassette = path.join(home, 'cassette.yaml');
  const first = await signedIn(look);
  const { tokens } = kept();
  const second = await alone([...look, '--record', cassette, '--json']);
  const secrets = [tokens.access_token, tokens.refresh_token ?? tokens.access_token];
  const written = [first.output, first.errors, second.output, second.errors, readFileSync(cassette, 'utf8')];
  for (const secret of secrets) for (const text of written) expect(text).not.toContain(secret);
  expect(written[4]).toContain('look');
});

test('a token that was given is what counts', async () => {
  await signedIn(look);
  expect(await alone([...look, '--token', 'another'])).toMatchObject({
    code: 2,
    errors: expect.stringContaining('It does not take the token'),
  });
});

test('interlude logout --server forgets it', async () => {
  await signedIn(look);
  const words = ['logout', '--server', files.url];
  const { output } = await startCommand(words, { XDG_CONFIG_HOME: home });
  expect(output).toContain('is forgotten here');
  expect((await alone(look)).code).toBe(2);
});

test('lint-server takes the same account', async () => {
  await signedIn(look);
  const { code } = await runLintCommand(['--tool', 'look', files.url], { XDG_CONFIG_HOME: home });
  expect(code).toBe(3);
  expect(files.calls).toHaveLength(2);
});
