import { expect, test } from 'vitest';
import { playWizard, useExposedTools } from './use-exposed-tools.ts';

const { used, notes } = useExposedTools();

test('a wizard of ten steps, in each way of asking', async () => {
  await playWizard(used.service, 10);
  expect(notes()).toHaveLength(30);
});
