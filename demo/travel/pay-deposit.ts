/**
 * `pay_deposit`: sends the user to a page of the desk. Their "yes" says that they opened it, not that they paid, so
 * the call waits for the money: a while without bothering anybody, then by asking again.
 */
import { inputRequired, inputResponse } from '@modelcontextprotocol/server';
import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { notDone, said } from './result.ts';
import type { Rounds } from './rounds.ts';
import type { TravelStore } from './store.ts';
import { euros } from './wording.ts';

export interface DepositOptions {
  /** Where the payment page of a trip is. */
  pageOf(payment: string): string;
  /** How long one round waits for the money. */
  waitMs: number;
}

interface Progress {
  /** How often the link was shown. */
  asked: number;
  /** How many rounds have waited since. */
  waited: number;
}

const mostAsked = 2;
const mostWaited = 3;

export async function payDeposit(
  store: TravelStore,
  rounds: Rounds,
  { pageOf, waitMs }: DepositOptions,
  id: string,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const trip = store.trips.find((one) => one.id === id);
  if (!trip) return notDone(`There is no trip ${id}. list_trips names them all.`);
  const amount = euros(trip.deposit.euros);
  const paid = said('paid', `The deposit of ${amount} for trip ${id} to ${trip.destination} is paid.`, {
    trip: id,
  });
  if (trip.deposit.paidAt !== null) return paid;

  const call = { tool: 'pay_deposit', about: id };
  const progress = rounds.read<Progress>(call, context);
  if (!progress) return ask(`Pay the deposit of ${amount} for trip ${id} to ${trip.destination}.`, 1);

  const response = inputResponse(context.mcpReq.inputResponses, 'page');
  if (response.kind === 'elicit' && response.action === 'decline')
    return said('declined', `The user decided not to pay the deposit for trip ${id} now. It is still due.`, {
      trip: id,
    });
  if (response.kind === 'elicit' && response.action === 'cancel')
    return said(
      'dismissed',
      `The user closed the request for the deposit of trip ${id} without deciding. It is still due.`,
      { trip: id },
    );
  if (response.kind === 'elicit' || progress.waited > 0) {
    if (await store.untilPaid(trip, waitMs, context.mcpReq.signal)) return paid;
    const waited = progress.waited + 1;
    if (waited < mostWaited) return goOn({ ...progress, waited });
  }
  if (progress.asked < mostAsked)
    return ask(
      `The deposit of ${amount} for trip ${id} has not arrived yet. Press Pay on the page, then come back.`,
      progress.asked + 1,
    );
  return said(
    'unpaid',
    `The deposit for trip ${id} was not paid in time. It is still due; the user can ask to pay it at any moment.`,
    { trip: id },
  );

  async function ask(message: string, asked: number): Promise<InputRequiredResult> {
    return inputRequired({
      inputRequests: { page: inputRequired.elicitUrl({ message, url: pageOf(trip?.payment ?? '') }) },
      requestState: await rounds.write<Progress>(call, { asked, waited: 0 }),
    });
  }

  async function goOn(next: Progress): Promise<InputRequiredResult> {
    return inputRequired({ requestState: await rounds.write<Progress>(call, next) });
  }
}
