import type { Page } from '../layout.ts';
import { notice } from '../outcome-pages.ts';

export function foreignForm(again: string): Page {
  const explanation = 'This form did not come from our page. Open your connections and decide there.';
  return notice(403, 'Nothing was changed', explanation, again);
}
