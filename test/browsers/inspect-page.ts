/** What is wrong with a page on a phone, in letters of twice the size there, and on a desk: too wide, or found by axe. */
import type { Page } from 'playwright-core';
import { axeFindings, picture } from './findings.ts';

const looks = [
  { width: 390, percent: 100, colorScheme: 'light' },
  { width: 390, percent: 100, colorScheme: 'dark' },
  { width: 390, percent: 200, colorScheme: 'light' },
  { width: 1280, percent: 100, colorScheme: 'light' },
] as const;

/** `name` is for the pictures. */
export async function inspectPage(page: Page, name: string): Promise<string[]> {
  const problems: string[] = [];
  // What arrives moves for a moment, and half of it has no contrast yet.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const { width, percent, colorScheme } of looks) {
    const where = `${name} ${width} ${percent} ${colorScheme}`;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    await page.evaluate((size) => (document.documentElement.style.fontSize = size), `${percent}%`);
    const excess = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth - clientWidth;
    });
    if (excess > 0) problems.push(`${where}: ${excess} pixels too wide`);
    problems.push(...(await axeFindings(page)).map((found) => `${where}: ${found}`));
    await picture(page, where);
  }
  await page.evaluate(() => (document.documentElement.style.fontSize = ''));
  return problems;
}
