/** A client secret is changed in the wrong order: a call whose token has run out waits for the right one, and is made once. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openBrowser } from '../browsers/plain-browser.ts';
import { createDeployment } from '../e2e/deployment.ts';
import { say, textOf } from '../e2e/watch.ts';
import { freePort } from '../free-port.ts';
import { startStrictFiles } from '../servers/strict-files.ts';
import { signIn } from '../service/connect-account.ts';
import { testFolder } from '../test-folder.ts';

test(
  'the call waits, operators read why, and with the right secret it goes on without a question',
  { timeout: 300_000 },
  async ({ onTestFailed }) => {
    await using stack = new AsyncDisposableStack();
    const port = await freePort();
    const files = await startStrictFiles({
      accessTokenSeconds: 3,
      clients: [
        {
          client_id: 'ours',
          client_secret: 'of today',
          redirect_uris: [`http://127.0.0.1:${port}/auth/callback`],
          grant_types: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_method: 'client_secret_post',
          application_type: 'native',
        },
      ],
    });
    stack.defer(() => files.stop());
    const folder = testFolder();
    const [agents, secretFile] = ['agents.yaml', 'secret'].map((name) => path.join(folder, name)) as [
      string,
      string,
    ];
    const { issuer } = files.authorization;
    const oauth = { issuer, clientId: 'ours', clientSecretEnv: 'FILES_SECRET' };
    await writeFile(
      agents,
      JSON.stringify({
        providers: { scripted: { script: path.resolve(import.meta.dirname, '../fixtures/script.ts') } },
        servers: { files: { title: 'Files', url: files.url, timeout: '20s', oauth } },
        agents: { assistant: { title: 'Assistant', model: 'scripted', servers: ['files'] } },
      }),
    );
    await writeFile(secretFile, 'of today');
    const deployment = await createDeployment({
      port,
      env: {
        INTERLUDE_CONFIG: agents,
        FILES_SECRET_FILE: secretFile,
      },
    });
    stack.defer(() => deployment.stop());
    onTestFailed(() => void process.stderr.write(`${deployment.output()}\n`));
    await deployment.start('start');

    const alice = deployment.client('alice');
    const first = say(alice, 'call files__look {}');
    const browser = openBrowser();
    await browser.press(await signIn(browser, 'alice', (await first.question()).url), 'Connect');
    expect(textOf(await first.end())).toBe('Done as alice.');
    const [call] = files.calls;
    await expect.poll(() => files.authorization.introspect(call?.token ?? '')).toBeFalsy();

    await writeFile(secretFile, 'of tomorrow');
    const second = say(alice, 'call files__look {}');
    await expect
      .poll(() => deployment.output(), { timeout: 30_000 })
      .toMatch(/does not accept this service as a client.*invalid_client.*the secret in FILES_SECRET/);
    await writeFile(secretFile, 'of today');
    expect(textOf(await second.end())).toBe('Done as alice.');
    expect(second.views.at(-1)?.parts.map(({ kind }) => kind)).not.toContain('elicitation');
    expect(files.calls).toHaveLength(2);
  },
);
