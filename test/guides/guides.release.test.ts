/** Guides, each from an empty folder by its text alone, with npm and the packages of this checkout. */
import { afterAll, beforeAll, test } from 'vitest';
import { followed } from './guide.ts';
import { useGuides } from './guides.ts';
import type { Followers } from './guides.ts';

let followers: Followers;
beforeAll(async () => void (followers = await useGuides()));
afterAll(() => followers[Symbol.asyncDispose]());

test.each(followed)('the guide %s does as it says', (name) => followers.follow(name));
