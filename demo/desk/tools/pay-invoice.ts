/** A page of one's own: the user pays there, and its server reports, signed, that it is done. */
import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import type * as office from './activities.ts';
import { whyNot } from './lib/why-not.ts';

export const payInvoice = defineTool({
  name: 'pay_invoice',
  description: 'Has the user pay an invoice on the payment page. Without an id, the oldest open one.',
  input: z.object({ invoice: z.string().optional().describe('Its id, for example I-17') }),
  activities: activities<typeof office>({ idempotent: ['readDesk'] }),
  async run({ invoice: wanted }, { elicit, activities: office }) {
    const { invoices } = await office.readDesk();
    const invoice = invoices.find(({ id, paidAt }) => (wanted ? id === wanted : paidAt === null));
    if (!invoice) return wanted ? `There is no invoice ${wanted}.` : 'All invoices are paid.';
    const { id, from, euros, paymentPage } = invoice;
    if (invoice.paidAt !== null) return `Invoice ${id} of ${from} is paid already.`;
    const paid = await elicit(`Pay invoice ${id} of ${from}: ${euros} €`, null, {
      mode: 'url',
      url: (elicitationId) => `${paymentPage}?elicitation=${elicitationId}`,
    });
    if (paid.status !== 'accept') return `Invoice ${id} of ${from} was not paid: ${whyNot(paid.status)}.`;
    // The page says that it is done; whether it is paid, the books say.
    const books = await office.readDesk();
    const isPaid = books.invoices.some((one) => one.id === id && one.paidAt !== null);
    return isPaid
      ? `Invoice ${id} of ${from} is paid: ${euros} €.`
      : `The page of invoice ${id} is done, but the books do not show a payment. Have it checked.`;
  },
});
