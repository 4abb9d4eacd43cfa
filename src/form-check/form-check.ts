/** Whether a content fits the fields of a form, in words to the person who filled it in. */
import { checkForm as check } from '../elicitation/form/check-form.ts';
import type { Field } from '../elicitation/form/field.ts';
import { boundedPatterns } from './bounded-patterns.ts';
import { detailOf } from './form-words.ts';

/** A field that does not fit. `detail` is for the person who filled it in, and never repeats what they wrote. */
export interface Misfit {
  name: string;
  detail: string;
}

/** For all patterns of a form together: an honest one takes microseconds. */
const patternBudgetMs = 10;

/** One entry for each field that does not fit; of several reasons the first. */
export function checkForm(fields: Field[], content: Record<string, unknown>): Misfit[] {
  const known = new Map(fields.map((field) => [field.name, field]));
  return [...check(fields, content, boundedPatterns(patternBudgetMs))].map(([name, violation]) => ({
    name,
    detail: detailOf(known.get(name), violation),
  }));
}
