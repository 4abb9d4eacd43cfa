/** `--record`, `--replay` and the recorded server over HTTP, from the command line. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCassetteFile } from '../../src/try/cassette-file.ts';
import { serveOverHttp } from '../../src/try/serve-replay.ts';
import { createReplayServer } from '../../src/cassette/replay-server.ts';
import { startAskingServer } from '../../../../test/servers/asking-server.ts';
import type { AskingServer } from '../../../../test/servers/asking-server.ts';
import { testFolder } from '../../../../test/test-folder.ts';
import { runTryCommand } from './in-process.ts';

let asking: AskingServer;
beforeAll(async () => {
  asking = await startAskingServer({ era: 'both' });
});
afterAll(() => asking.stop());

test.each(['modern', 'legacy'])(
  'of the %s era: recorded, served, recorded again, and replayed',
  async (era) => {
    const folder = testFolder();
    const file = (name: string) => path.join(folder, name);
    // Of an earlier recording with open file permissions.
    writeFileSync(file('one.yaml'), '', { mode: 0o644 });
    writeFileSync(file('answers.yaml'), 'fields: { nights: 3 }\n');
    const words = ['--tool', 'wizard', '--era', era, '--answers', file('answers.yaml')];
    const first = await runTryCommand([
      ...words,
      '--token',
      'my-own-token',
      '--record',
      file('one.yaml'),
      asking.config.url,
    ]);
    expect([first.code, first.output]).toEqual([0, 'wizard 3,3,3,\n']);
    expect(statSync(file('one.yaml')).mode & 0o777).toBe(0o600);

    const server = createReplayServer(await readCassetteFile(file('one.yaml')));
    const { url, close } = await serveOverHttp(server, 0);
    const second = await runTryCommand([...words, '--record', file('two.yaml'), url]);
    close();
    expect([second.code, second.output, server.differences, server.missing()]).toEqual([
      0,
      first.output,
      [],
      [],
    ]);
    expect(readFileSync(file('two.yaml'), 'utf8')).toBe(readFileSync(file('one.yaml'), 'utf8'));

    const same = await runTryCommand(['--replay', file('one.yaml'), '--era', era, asking.config.url]);
    expect([same.code, same.errors]).toEqual([
      0,
      expect.stringContaining('as it was recorded: 1 of 1 calls'),
    ]);
    writeFileSync(
      file('other.yaml'),
      readFileSync(file('one.yaml'), 'utf8').replaceAll('city 2?', 'town 2?'),
    );
    const other = await runTryCommand(['--replay', file('other.yaml'), '--era', era, asking.config.url]);
    expect([other.code, other.errors]).toEqual([
      1,
      expect.stringMatching(/- .*town 2\?\n(?:.*\n)*? +\+ .*city 2\?/),
    ]);
  },
);

test('a file that is no cassette is a wrong command line', async () => {
  await expect(runTryCommand(['--replay', import.meta.filename, asking.config.url])).rejects.toMatchObject({
    name: 'UsageError',
  });
});
