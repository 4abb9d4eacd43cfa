/** Ways through a page without a hand on a mouse. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Moves there with the Tab key alone; one can see where one is on the whole way. */
export async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 40; presses++) {
    if (await isFocused(target)) return;
    await page.keyboard.press(key);
    expect(await page.evaluate(hasVisibleFocus), 'one can see where one is').toBe(true);
  }
  throw new Error(`${String(target)} cannot be reached with the Tab key`);
}

export function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => (element.getRootNode() as ShadowRoot).activeElement === element);
}

/** Outlined, or in something that is. Between the last element and the first one, the browser itself has the focus. */
function hasVisibleFocus(): true | string {
  const focused = document.querySelector('interlude-chat')?.shadowRoot?.activeElement;
  if (!focused) return document.activeElement === document.body || 'nothing';
  // The browser's own button in it has the browser's own outline.
  if (focused.matches('[type^=date]')) return true;
  const around = focused.closest(':focus-within:not(:focus)');
  for (const { outlineStyle, boxShadow } of [focused, around ?? focused].map((one) => getComputedStyle(one)))
    if (outlineStyle !== 'none' || boxShadow !== 'none') return true;
  return focused.outerHTML;
}

/** Focus does not jump back to the top of the page. */
export function focusIsKept(page: Page): Promise<boolean> {
  return page.evaluate(
    () => document.querySelector('interlude-chat')?.shadowRoot?.activeElement instanceof HTMLElement,
  );
}
