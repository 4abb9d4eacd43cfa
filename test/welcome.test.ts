import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { loadConfig } from '../src/config.ts';
import { lacksAtStart } from '../src/tell-readiness.ts';
import { welcome } from '../src/welcome.ts';

const agentsFile = fileURLToPath(new URL('../demo/agents.yaml', import.meta.url));
const config = loadConfig({}, path.dirname(path.dirname(agentsFile)));
const shown = (lacks: string[]) => stripVTControlCharacters(welcome(config, undefined, true, lacks));

test('npm start calls itself ready only when it is', async () => {
  expect(shown([])).toContain('Interlude is ready');
  expect(shown([])).toContain('npm run chat');
  const words = shown(['no worker polls task queue "interlude"; start one (npm run worker)']);
  expect(words).toContain('Interlude runs, and is not ready');
  expect(words).toContain('• no worker polls task queue');
  expect(words).not.toContain('Interlude is ready');
  expect(words).not.toContain('npm run chat');
});

test('what comes up a moment later is not told as missing', async () => {
  let asked = 0;
  expect(await lacksAtStart(async () => (asked++ < 2 ? ['no worker'] : []))).toEqual([]);
});
