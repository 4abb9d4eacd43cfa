/** Plain: asks nothing, changes nothing. */
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import { findOrder as find } from '../shop.ts';

export const findOrder = defineTool({
  name: 'find_order',
  description: 'Looks an order up by its number.',
  input: z.object({ order: z.string() }),
  annotations: { readOnlyHint: true },
  idempotent: true,
  execute: ({ order }) => find(order) ?? `There is no order ${order}.`,
});
