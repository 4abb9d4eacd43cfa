/** Plain: what the policy agent reads. */
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';

export const readPolicy = defineTool({
  name: 'read_policy',
  description: 'The shop’s policy of refunds.',
  input: z.object({}),
  annotations: { readOnlyHint: true },
  idempotent: true,
  execute: () =>
    'An order is refunded in full within 30 days of its delivery. After that it is not refunded.',
});
