/** OpenAI's own client for Python. */
import { pythonWith } from './python-package.ts';
import type { Python } from './python-package.ts';

export type { Python };

export function pythonWithOpenAI(): Promise<Python> {
  return pythonWith('openai', '3.54.0');
}
