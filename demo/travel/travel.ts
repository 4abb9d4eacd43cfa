/**
 * The travel desk: an MCP server that asks. It needs no login; what it has to know it asks for in the middle of a
 * call, by forms, step by step, or by a link to a page of its own.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { localhostHostValidation } from '@modelcontextprotocol/node';
import { listen } from '../listen.ts';
import { pageHeaders } from '../page.ts';
import { notFoundPage, paidPage, paymentPage, problemPage, welcomePage } from './pages.ts';
import { createRounds } from './rounds.ts';
import { createMcpEndpoint } from './serve-mcp.ts';
import { openTravelStore } from './store.ts';
import type { TravelStore } from './store.ts';
import { buildTravelDesk } from './tools.ts';

export interface TravelOptions {
  /** 0 takes a free one. */
  port: number;
  /** Where the books are kept. */
  dataDir: string;
  /** How long one round of `pay_deposit` waits for the money. */
  paymentWaitMs?: number;
}

export interface TravelDesk {
  /** Address of the MCP endpoint. */
  url: string;
  origin: string;
  books: Pick<TravelStore, 'trips' | 'offsites'>;
  stop(): Promise<void>;
}

export async function startTravelDesk({
  port,
  dataDir,
  paymentWaitMs = 15_000,
}: TravelOptions): Promise<TravelDesk> {
  const server = createServer();
  const listening = await listen(server, port, 'DEMO_TRAVEL_PORT');
  const origin = `http://127.0.0.1:${listening.port}`;
  const url = `${origin}/mcp`;

  const store = openTravelStore(dataDir);
  const rounds = createRounds(store.stateKey);
  // A name, because links to a bare address come with a warning.
  const pages = `http://localhost:${listening.port}/pay`;
  const deposit = { pageOf: (payment: string) => `${pages}/${payment}`, waitMs: paymentWaitMs };
  const serveMcp = createMcpEndpoint(() => buildTravelDesk(store, rounds, deposit));
  const isLocal = localhostHostValidation();

  function show(response: ServerResponse, page: string, status = 200): void {
    response.writeHead(status, pageHeaders).end(page);
  }

  /** Opening the page changes nothing; only its button pays. */
  function servePayment(payment: string, request: IncomingMessage, response: ServerResponse): void {
    const trip = store.tripOf(payment);
    if (!trip) return show(response, notFoundPage(), 404);
    if (request.method === 'POST') {
      store.pay(trip);
      return void response.writeHead(303, { location: `/pay/${payment}` }).end();
    }
    show(response, trip.deposit.paidAt === null ? paymentPage(trip) : paidPage(trip));
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocal(request, response)) return;
    const { pathname } = new URL(request.url ?? '/', origin);
    if (pathname === '/mcp') return serveMcp(request, response);
    const payment = /^\/pay\/([\w-]+)$/.exec(pathname)?.[1];
    if (payment !== undefined) return servePayment(payment, request, response);
    if (pathname === '/') return show(response, welcomePage(url));
    show(response, notFoundPage(), 404);
  }

  server.on('request', (request, response) => {
    serve(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else show(response, problemPage(), 500);
    });
  });
  return { url, origin, books: store, stop: listening.stop };
}
