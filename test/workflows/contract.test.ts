/**
 * Code of the release before runs in processes of this one, and the reverse. What the histories say of that is in
 * recorded-contract.ts, which the type checker compares with today's types.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { contractModule } from './recorded-payloads.ts';
import './recorded-contract.ts';

test('each recorded input, result and signal is compared with the types of today', () => {
  const text = readFileSync(path.join(import.meta.dirname, 'recorded-contract.ts'), 'utf8');
  const statements = (module: string) => module.split('\n').filter((line) => line.startsWith('void ('));
  const recorded = statements(contractModule(path.join(import.meta.dirname, 'histories')));
  expect(recorded.length).toBeGreaterThan(50);
  expect(statements(text)).toEqual(recorded);
});
