/** The test files' side of `global-setup.ts`. */
import { inject } from 'vitest';

export async function fromGlobalSetup(path: string): Promise<string> {
  const response = await fetch(inject('sharedUrl') + path);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${text}`);
  return text;
}
