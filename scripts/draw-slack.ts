/**
 * The pictures of docs/slack.md, drawn from the messages, windows and homes that the code makes. Run it after a change of
 * them: `npm run draw-slack`. What each was made of is written down beside them, and a test compares.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { launchChromium } from '../test/browsers/chromium.ts';
import { digestOfPicture } from './slack-pictures/digest.ts';
import { drawState } from './slack-pictures/draw.ts';
import { states } from './slack-pictures/states.ts';

const folder = path.resolve(import.meta.dirname, '../docs/slack');
mkdirSync(folder, { recursive: true });
const browser = await launchChromium();
const page = await browser.newPage({ viewport: { width: 1_000, height: 600 }, deviceScaleFactor: 1 });
for (const state of states) {
  await page.setContent(drawState(state));
  await page.locator('main').screenshot({ path: path.join(folder, `${state.name}.png`) });
}
await browser.close();
const made = Object.fromEntries(states.map((state) => [state.name, digestOfPicture(state)]));
writeFileSync(path.join(folder, 'pictures.json'), `${JSON.stringify(made, null, 2)}\n`);
