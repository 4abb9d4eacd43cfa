/** Moves money: agents.yaml has a person approve each call. What must never happen, the code refuses; a model may be wrong. */
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import { findOrder, payBack } from '../shop.ts';

export const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order. The user approves it first.',
  input: z.object({ order: z.string(), euros: z.number().positive(), reason: z.string() }),
  annotations: { destructiveHint: true },
  execute({ order: id, euros, reason }) {
    const order = findOrder(id);
    if (!order) return `There is no order ${id}.`;
    if (order.refunded) return `Order ${id} was refunded before.`;
    if (euros > order.euros) return `Order ${id} cost ${order.euros} euros: no more can be refunded.`;
    payBack({ order: id, euros, reason });
    return `Refunded: ${euros} euros for order ${id} (${reason}).`;
  },
});
