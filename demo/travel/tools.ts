/** The Travel Desk as an MCP server without accounts: whoever can reach it may call its tools. */
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { bookTrip } from './book-trip.ts';
import { payDeposit } from './pay-deposit.ts';
import type { DepositOptions } from './pay-deposit.ts';
import { planOffsite } from './plan-offsite.ts';
import { resultShape } from './result.ts';
import type { Rounds } from './rounds.ts';
import type { TravelStore } from './store.ts';
import { inOneLine } from './wording.ts';

const writing = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

const listed = z.object({
  id: z.string(),
  destination: z.string(),
  departure: z.string(),
  nights: z.number().int(),
  traveller: z.string(),
  deposit: z.object({ euros: z.number(), paidAt: z.string().nullable() }),
});

export function buildTravelDesk(store: TravelStore, rounds: Rounds, deposit: DepositOptions): McpServer {
  const server = new McpServer(
    { name: 'travel-desk', title: 'Travel Desk', version: '1.0.0' },
    {
      instructions:
        'Books trips and plans offsites for one team. The tools ask the user for whatever they need to know, so do not ask for it beforehand. Trips are referred to as T-1001, offsites as O-1001.',
      requestState: { verify: rounds.verify },
    },
  );

  server.registerTool(
    'book_trip',
    {
      title: 'Book a trip',
      description:
        'Books a trip. Shows the user a form for everything but the destination (dates, class, meals, extras, …) and books what they fill in.',
      inputSchema: z.object({
        destination: z.string().trim().min(2).max(80).describe('City to travel to, as in "Lisbon"'),
      }),
      outputSchema: z.object(resultShape),
      annotations: writing,
    },
    ({ destination }, context) => bookTrip(store, rounds, destination, context),
  );

  server.registerTool(
    'plan_offsite',
    {
      title: 'Plan an offsite',
      description:
        'Plans a meeting of the team elsewhere. Asks the user step by step: the city, the days that are free there, who comes, and whether to reserve it.',
      inputSchema: z.object({}),
      outputSchema: z.object(resultShape),
      annotations: writing,
    },
    (_input, context) => planOffsite(store, rounds, context),
  );

  server.registerTool(
    'pay_deposit',
    {
      title: 'Pay a deposit',
      description:
        'Takes the deposit for a trip: sends the user to a payment page and waits until it is paid. A deposit that is paid is not taken again.',
      inputSchema: z.object({ trip: z.string().describe('Number of the trip, as in T-1001') }),
      outputSchema: z.object(resultShape),
      annotations: { ...writing, idempotentHint: true },
    },
    ({ trip }, context) => payDeposit(store, rounds, deposit, trip, context),
  );

  server.registerTool(
    'list_trips',
    {
      title: 'List trips',
      description: 'Lists all trips that are booked, with the state of their deposits.',
      inputSchema: z.object({}),
      outputSchema: z.object({ trips: z.array(listed) }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    () => ({
      content: [{ type: 'text', text: store.trips.map(inOneLine).join('\n') || 'No trips.' }],
      structuredContent: { trips: store.trips.map((trip) => listed.parse(trip)) },
    }),
  );
  return server;
}
