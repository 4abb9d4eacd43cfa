/** Guides, each from an empty folder by its text alone, with npm and the packages of this checkout, on each Node that is supported. */
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { supportedNodes } from '../programs/npm-program.ts';
import { followed } from './guide.ts';
import { useGuides } from './guides.ts';
import type { Followers } from './guides.ts';

let followers: Followers;
beforeAll(async () => void (followers = await useGuides()));
afterAll(() => followers[Symbol.asyncDispose]());

describe.each(await supportedNodes())('with %s', (node) => {
  test.each(followed)('the guide %s does as it says', (name) => followers.follow(name, path.dirname(node)));
});
