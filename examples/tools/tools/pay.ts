/** A page of one's own: the user pays there, and the page reports, signed, that it is done. */
import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import type * as effects from './activities.ts';

export const pay = defineTool({
  name: 'pay_invoice',
  description: 'Has the user pay an invoice on our payment page.',
  input: z.object({ invoice: z.string() }),
  activities: activities<typeof effects>({ idempotent: ['readPayment'] }),
  async run({ invoice }, { elicit, activities: billing }) {
    const paid = await elicit(`Pay invoice ${invoice}`, null, {
      mode: 'url',
      url: (elicitationId) => `https://pay.example.com/${invoice}?elicitation=${elicitationId}`,
    });
    if (paid.status !== 'accept') return `Invoice ${invoice} was not paid (${paid.status}).`;
    // The page says that it is done; what was paid, the books say.
    return billing.readPayment(invoice);
  },
});
