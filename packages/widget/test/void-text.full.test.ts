/** A model that breaks off and says something else: what the widget of a reader shows. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import { createOpenAIServer } from '../../../test/servers/openai-server.ts';
import type { OpenAIServer } from '../../../test/servers/openai-server.ts';
import { setUpWidgetPage } from './widget-page.ts';
import type { WidgetPageSetup } from './widget-page.ts';

const temporal = useDevelopmentServer();
let browser: Browser;
let model: OpenAIServer;
let setup: WidgetPageSetup;
let folder: string;
const heard = Promise.withResolvers<void>();
const looked = Promise.withResolvers<void>();

async function* whole(): AsyncGenerator<string> {
  yield 'A whole';
  await looked.promise;
  yield ' one.';
}

async function* brokenOff(): AsyncGenerator<string> {
  yield 'Half a sentence';
  await heard.promise;
  throw new Error('told to break off');
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-widget-'));
  let calls = 0;
  model = await createOpenAIServer({
    reply: () => ({ kind: 'text', chunks: calls++ === 0 ? brokenOff() : whole() }),
  });
  const file = path.join(folder, 'agents.yaml');
  await writeFile(
    file,
    `
providers: { openai-compatible: { baseURL: ${model.baseURL} } }
agents: { thinker: { model: 'openai-compatible:any' } }
`,
  );
  browser = await launchChromium();
  setup = await setUpWidgetPage({ browser, temporal, env: { INTERLUDE_CONFIG: file } });
});
afterAll(async () => {
  await setup?.stop();
  await browser?.close();
  await model?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('the words that were cut off make room for those that count, and are not there after a reload', async () => {
  const { page, say, comeBack, leave } = await setup.visit();
  const said = page.locator('.message.assistant .markdown');
  await say('Think.');
  await page.getByText('Half a sentence').waitFor();
  heard.resolve();
  // Before the turn is over: then the widget reads the conversation anew.
  await page.getByText('A whole').waitFor();
  expect(await said.allInnerTexts()).toEqual(['A whole']);
  looked.resolve();
  await page.getByText('A whole one.').waitFor();
  expect(await said.allInnerTexts()).toEqual(['A whole one.']);
  await comeBack();
  await page.getByText('A whole one.').waitFor();
  expect(await said.allInnerTexts()).toEqual(['A whole one.']);
  await leave();
});
