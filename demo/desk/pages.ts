/** The Desk's pages: paying an invoice, and what came of it. Plain HTML, no script. */
import { demoPage, escapeHtml, factList } from '../page.ts';
import type { Invoice } from './store.ts';

export function paymentPage(invoice: Invoice): string {
  return page(
    'Pay an invoice',
    `<h1>Invoice ${invoice.id}</h1><p>This is a demo: nothing is charged.</p>
${factsOf(invoice)}
<form method="post"><button>Pay ${invoice.euros} €</button></form>
<footer>Not you, or not now? Close this page. As long as you have not paid, the conversation waits.</footer>`,
  );
}

/** `told`: whether the conversation that sent the user here knows. */
export function paidPage(invoice: Invoice, told: 'told' | 'too-late' | 'not-yet'): string {
  const words = {
    told: 'Your conversation knows and goes on by itself. You can close this page.',
    'too-late': 'The conversation does not wait for it any more. You can close this page.',
    'not-yet': 'Your conversation could not be told yet. Load this page again in a moment.',
  };
  return page('Paid', `<h1>Invoice ${invoice.id} is paid</h1><p>${words[told]}</p>\n${factsOf(invoice)}`);
}

export function notFoundPage(): string {
  return page(
    'Not found',
    '<h1>There is nothing to pay here</h1><p>The address is not complete. Ask for the link again.</p>',
  );
}

export function problemPage(): string {
  return page('Trouble', '<h1>This did not work</h1><p>Go back and try it again.</p>');
}

export function welcomePage(): string {
  return page(
    'Desk',
    '<h1>The office of the demo</h1><p>Its wiki, its members and its invoices, which the tools of the agent Desk work with. People come here only to pay.</p>',
  );
}

function factsOf({ from, id, euros }: Invoice): string {
  return factList([
    ['From', from],
    ['Invoice', id],
    ['Amount', `${euros} €`],
  ]);
}

function page(title: string, body: string): string {
  return demoPage('Desk', escapeHtml(title), body);
}
