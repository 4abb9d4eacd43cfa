/** The desk's pages: paying a deposit, and that it is paid. Plain HTML, no script. */
import { demoPage, escapeHtml, factList } from '../page.ts';
import type { Trip } from './store.ts';
import { counted, euros } from './wording.ts';

export function paymentPage(trip: Trip): string {
  const amount = euros(trip.deposit.euros);
  return page(
    'Pay the deposit',
    `<h1>Deposit for a trip to ${escapeHtml(trip.destination)}</h1><p>This is a demo: nothing is charged.</p>
${factsOf(trip)}
<form method="post"><button>Pay ${amount}</button></form>
<footer>Not you, or not now? Close this page; nothing happens.</footer>`,
  );
}

export function paidPage(trip: Trip): string {
  return page(
    'Paid',
    `<h1>The deposit is paid</h1><p>Thank you. Back in your conversation, say that you are done if it still asks.</p>
${factsOf(trip)}`,
  );
}

function factsOf({ id, destination, departure, nights, traveller, deposit }: Trip): string {
  return factList([
    ['Trip', `${id}, ${destination}`],
    ['Traveller', traveller],
    ['Departure', departure],
    ['Stay', counted(nights, 'night')],
    ['Deposit', euros(deposit.euros)],
  ]);
}

export function notFoundPage(): string {
  return page(
    'Not found',
    '<h1>There is nothing to pay here</h1><p>The address is not complete, or the trip it belongs to is gone. Ask for the link again.</p>',
  );
}

export function problemPage(): string {
  return page('Trouble', '<h1>This did not work</h1><p>Go back and try it again.</p>');
}

export function welcomePage(endpoint: string): string {
  return page(
    'Travel Desk',
    `<h1>A travel desk for the demo</h1><p>Its MCP endpoint is ${escapeHtml(endpoint)}. People come here only to pay a deposit.</p>`,
  );
}

function page(title: string, body: string): string {
  return demoPage('Travel Desk', title, body);
}
