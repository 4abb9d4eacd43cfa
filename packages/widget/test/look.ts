/** Eyes on the widget: at three widths, in both themes, and what a person could not use there. */
import type { Page } from 'playwright-core';
import { axeFindings, picture, wcag } from '../../../test/browsers/findings.ts';

const sizes = [
  { width: 360, height: 740 },
  { width: 768, height: 900 },
  { width: 1280, height: 800 },
];
const themes = ['light', 'dark'] as const;

/** Fails with every problem of the page as it is now; `name` is for the screenshots. */
export async function look(page: Page, name: string): Promise<void> {
  const problems: string[] = [];
  // What arrives moves for a moment, and half of it has no contrast yet.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    for (const size of sizes) {
      await page.setViewportSize(size);
      const where = `${name} ${size.width} ${colorScheme}`;
      problems.push(...(await tooWide(page)).map((wide) => `${where}: ${wide} is too wide`));
      await picture(page, where);
    }
    problems.push(...(await axeFindings(page, wcag)).map((found) => `${name} ${colorScheme}: ${found}`));
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** With the colours of the reader's own system, and nothing that moves. */
export async function lookInForcedColors(page: Page): Promise<void> {
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
  await picture(page, 'forced-colors');
  const problems = await axeFindings(page, wcag);
  const moving = await page.evaluate(() =>
    document.getAnimations().map((one) => (one as CSSAnimation).animationName),
  );
  await page.emulateMedia({ forcedColors: 'none' });
  if (problems.length + moving.length > 0) throw new Error([...problems, ...moving].join('\n'));
}

/** The page itself, and what sticks out of the conversation; code and tables scroll by themselves. */
export function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const root = document.querySelector('interlude-chat')?.shadowRoot;
    const places = [document.documentElement, root?.querySelector('.log'), root?.querySelector('.chat')];
    return places.flatMap((place) =>
      place && place.scrollWidth > place.clientWidth + 1 ? [place.className || place.tagName] : [],
    );
  });
}
