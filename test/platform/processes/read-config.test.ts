/** What is asked, beyond the settings themselves, before a process lets people in. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readProcessConfig } from '../../../src/platform/processes/read-config.ts';
import { freePort } from '../../free-port.ts';
import { testFolder } from '../../test-folder.ts';

afterEach(() => vi.unstubAllEnvs());

async function issuerThatIsAway(): Promise<string> {
  const folder = testFolder();
  const agents = path.join(folder, 'agents.yaml');
  writeFileSync(
    agents,
    'providers: { scripted: { script: ./script.ts } }\nagents: { assistant: { model: scripted } }\n',
  );
  vi.stubEnv('INTERLUDE_CONFIG', agents);
  vi.stubEnv('INTERLUDE_DATA', folder);
  vi.stubEnv('AUTH_CLIENT_ID', 'interlude');
  return `http://127.0.0.1:${await freePort()}`;
}

test('whether the issuer answers is asked at start', async () => {
  const issuer = await issuerThatIsAway();
  vi.stubEnv('AUTH_ISSUER', issuer);
  await expect(readProcessConfig('server')).rejects.toMatchObject({
    problems: [expect.stringContaining(`AUTH_ISSUER: ${issuer} cannot be reached`)],
  });
});

test('the issuer that a file names is asked, too', async () => {
  const issuer = await issuerThatIsAway();
  const file = path.join(testFolder(), 'issuer');
  writeFileSync(file, `${issuer}\n`);
  vi.stubEnv('AUTH_ISSUER_FILE', file);
  await expect(readProcessConfig('server')).rejects.toMatchObject({
    problems: [expect.stringContaining(`AUTH_ISSUER: ${issuer} cannot be reached`)],
  });
});
