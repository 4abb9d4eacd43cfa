/** The pictures of docs/slack.md show what the code makes today: each was drawn from it, and is named on the page with its words. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { digestOfPicture } from '../../../scripts/slack-pictures/digest.ts';
import { states } from '../../../scripts/slack-pictures/states.ts';
import { problemsOfBlocks, problemsOfView } from '../../servers/slack/check-view.ts';
import type { Block, View } from '../../servers/slack/check-view.ts';

const docs = path.resolve(import.meta.dirname, '../../../docs');
const folder = path.join(docs, 'slack');

test('every picture was drawn from what the code makes; `npm run draw-slack` draws them again', () => {
  const made = JSON.parse(readFileSync(path.join(folder, 'pictures.json'), 'utf8')) as unknown;
  expect(made).toEqual(Object.fromEntries(states.map((state) => [state.name, digestOfPicture(state)])));
});

test('the page shows each of them with its words, and they are small', () => {
  const page = readFileSync(path.join(docs, 'slack.md'), 'utf8');
  const pictures = states.map(({ name }) => `${name}.png`);
  expect(readdirSync(folder).toSorted()).toEqual([...pictures, 'pictures.json'].toSorted());
  for (const { name, alt } of states) expect(page).toContain(`![${alt}](slack/${name}.png)`);
  const sizes = pictures.map((name) => statSync(path.join(folder, name)).size);
  expect(Math.max(...sizes)).toBeLessThan(60_000);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(600_000);
});

test('what they show is what Slack takes', () => {
  const blocks = states.flatMap(({ messages = [] }) => messages.map((one) => (one.blocks ?? []) as Block[]));
  const views = states.flatMap((state) => (state.views ?? []).map(({ view }) => view as View));
  expect(blocks.flatMap(problemsOfBlocks)).toEqual([]);
  expect(views.flatMap(problemsOfView)).toEqual([]);
});
