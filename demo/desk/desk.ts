/**
 * The office that the Desk's tools work with: what a company would have anyway. A small JSON API for the tools' activities,
 * and a payment page that reports, signed, that it is done. On loopback, without a login.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { localhostHostValidation } from '@modelcontextprotocol/node';
import { signCompletion } from '@interlude-ai/tools/elicit.ts';
import { listen } from '../listen.ts';
import { pageHeaders } from '../page.ts';
import { notFoundPage, paidPage, paymentPage, problemPage, welcomePage } from './pages.ts';
import { openDeskStore } from './store.ts';
import type { DeskStore, Digest, Invoice, Member } from './store.ts';

export interface DeskOptions {
  /** 0 takes a free one. */
  port: number;
  /** Where the books are kept. */
  dataDir: string;
  /** Whom the payment page tells that it is done, and how it signs. */
  interlude: { url: string; completionSecret: string };
}

export interface Desk {
  origin: string;
  books: DeskStore['books'];
  stop(): Promise<void>;
}

export async function startDesk({ port, dataDir, interlude }: DeskOptions): Promise<Desk> {
  const server = createServer();
  const listening = await listen(server, port, 'DEMO_DESK_PORT');
  const origin = `http://127.0.0.1:${listening.port}`;
  // A name, because links to a bare address come with a warning.
  const pages = `http://localhost:${listening.port}/pay`;
  const store = openDeskStore(dataDir);
  const isLocal = localhostHostValidation();

  /** Opening the page changes nothing; only its button pays. Whoever comes back to a paid one has it reported again. */
  async function servePayment(
    payment: string,
    elicitationId: string | null,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const invoice = store.invoiceOf(payment);
    if (!invoice) return show(response, notFoundPage(), 404);
    if (request.method === 'POST') store.pay(invoice);
    else if (invoice.paidAt === null) return show(response, paymentPage(invoice));
    const told = elicitationId === null ? 'too-late' : await reportPaid(interlude, elicitationId);
    show(response, paidPage(invoice, told));
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocal(request, response)) return;
    const { pathname, searchParams } = new URL(request.url ?? '/', origin);
    const payment = /^\/pay\/([\w-]+)$/.exec(pathname)?.[1];
    if (payment !== undefined)
      return servePayment(payment, searchParams.get('elicitation'), request, response);
    if (pathname === '/') return show(response, welcomePage());
    const called = /^\/api\/(\w+)$/.exec(pathname)?.[1];
    // A page of somebody else's could send a form here, but no JSON.
    if (called === undefined || request.headers['content-type'] !== 'application/json')
      return show(response, notFoundPage(), 404);
    const result = call(called, await readJson(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result ?? null));
  }

  function call(name: string, input: unknown): unknown {
    const { books } = store;
    switch (name) {
      case 'readDesk':
        return { ...books, invoices: books.invoices.map(toldOf) };
      case 'deletePage':
        return store.deletePage((input as { title: string }).title);
      case 'addMember':
        return store.addMember(input as Member);
      case 'setDigest':
        return store.setDigest(input as Digest);
      default:
        throw new Error(`The Desk has no ${name}.`);
    }
  }

  function toldOf({ payment, ...invoice }: Invoice) {
    return { ...invoice, paymentPage: `${pages}/${payment}` };
  }

  server.on('request', (request, response) => {
    serve(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else show(response, problemPage(), 500);
    });
  });
  return { origin, books: store.books, stop: listening.stop };
}

function show(response: ServerResponse, page: string, status = 200): void {
  response.writeHead(status, pageHeaders).end(page);
}

/** Again is no different: a repetition is told what the first report was told. */
async function reportPaid(
  { url, completionSecret: secret }: DeskOptions['interlude'],
  elicitationId: string,
): Promise<'told' | 'too-late' | 'not-yet'> {
  try {
    const signature = await signCompletion({ elicitationId, secret });
    const { status } = await fetch(
      `${url}/run/v1/elicitations/${encodeURIComponent(elicitationId)}/complete`,
      {
        method: 'POST',
        headers: { 'interlude-signature': signature },
        signal: AbortSignal.timeout(10_000),
      },
    );
    if (status < 300) return 'told';
    return status === 409 || status === 410 ? 'too-late' : 'not-yet';
  } catch {
    return 'not-yet';
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null');
}
