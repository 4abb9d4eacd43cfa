/** Asks the person who handles the case. The answer goes to the model, which puts it into the refund. */
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';

export const askReason = defineTool({
  name: 'ask_reason',
  description: 'Asks the user why an order is refunded. Call it before refund.',
  input: z.object({ order: z.string() }),
  async run({ order }, { elicit }) {
    const answer = await elicit(
      `Why is order ${order} refunded?`,
      z.object({
        reason: z.enum(['damaged', 'wrong item', 'late', 'not wanted']),
        note: z.string().max(200).optional().describe('For the books'),
      }),
    );
    if (answer.status !== 'accept') return `The user gave no reason (${answer.status}). Do not refund.`;
    const { reason, note } = answer.content;
    return { reason: note ? `${reason}: ${note}` : reason };
  },
});
