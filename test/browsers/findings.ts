/** What is wrong with a page that a browser shows: what axe finds, and what the page complains of. And pictures for eyes. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import axe from 'axe-core';
import type { Frame, Page } from 'playwright-core';
import { isFavicon } from './chromium.ts';

/** The rules that the widget keeps. */
export const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** By all rules unless some are given. */
export async function axeFindings(page: Page | Frame, runOnly?: string[]): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations, passed } = await page.evaluate(async (rules) => {
    const { axe: checker } = globalThis as unknown as { axe: typeof axe };
    const found = await checker.run(document, rules ? { runOnly: rules } : {});
    return { violations: found.violations, passed: found.passes.length };
  }, runOnly);
  if (passed < 5) throw new Error('axe has looked at nothing');
  return violations.map(({ id, nodes }) => `axe ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Filled with the errors and warnings of the page from now on. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (isFavicon(message.location().url)) return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  return complaints;
}

/** Left in the folder SCREENSHOTS, where there is one. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const file = `${name.replaceAll(/\W+/g, '-').toLowerCase()}.png`;
  await page.screenshot({ path: path.join(folder, file), fullPage: true });
}
