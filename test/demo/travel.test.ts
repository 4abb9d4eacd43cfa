import { setTimeout as delay } from 'node:timers/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, isInputRequiredResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type {
  CallToolResult,
  ClientCapabilities,
  ElicitResult,
  InputRequiredResult,
} from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTravelDesk } from '../../demo/travel/travel.ts';
import type { TravelDesk } from '../../demo/travel/travel.ts';
import { openBrowser } from '../browsers/plain-browser.ts';

let dataDir: string;
let desk: TravelDesk;
let stack = new AsyncDisposableStack();
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'travel-'));
  desk = await startTravelDesk({ port: 0, dataDir, paymentWaitMs: 50 });
});
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
  await desk.stop();
  await rm(dataDir, { recursive: true });
});

type Era = 'current' | 'older';
const eras: Era[] = ['current', 'older'];

interface Asked {
  mode?: string;
  message: string;
  url?: string;
  requestedSchema?: { properties: Record<string, Record<string, unknown>>; required?: string[] };
}
type Answer = (asked: Asked) => ElicitResult | Promise<ElicitResult>;

interface Visit {
  /** Everything the user was asked, oldest first. */
  asked: Asked[];
  call(name: string, input?: Record<string, unknown>): Promise<CallToolResult>;
  /** One round, which the client does not go on from by itself. */
  round(params: Record<string, unknown>): Promise<CallToolResult | InputRequiredResult>;
  client: Client;
}

async function visit(
  era: Era,
  answers: Answer[],
  elicitation: NonNullable<ClientCapabilities['elicitation']> = { form: {}, url: {} },
): Promise<Visit> {
  const asked: Asked[] = [];
  const client = new Client(
    { name: 'visitor', version: '1' },
    {
      capabilities: { elicitation },
      versionNegotiation: { mode: era === 'current' ? { pin: '2026-07-28' } : 'legacy' },
    },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params as Asked);
    const answer = answers.shift();
    if (!answer) throw new Error(`Nobody expected: ${params.message}`);
    return answer(params as Asked);
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(desk.url)));
  stack.defer(() => client.close());
  return {
    asked,
    client,
    call: (name, input = {}) => client.callTool({ name, arguments: input }),
    round: (params) => client.callTool(params as { name: string }, { allowInputRequired: true }),
  };
}

const accept = (content?: ElicitResult['content']): Answer => {
  return () => ({ action: 'accept', ...(content && { content }) });
};
const decline: Answer = () => ({ action: 'decline' });
const dismiss: Answer = () => ({ action: 'cancel' });

const textOf = ({ content }: CallToolResult) =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('');

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const details = {
  traveller: 'Bob Brown',
  email: 'bob@example.com',
  departure: inDays(30),
  pickUp: `${inDays(30)}T05:30:00Z`,
  nights: 2,
  budget: 812.5,
  class: 'premium',
  meals: 'vegan',
};

test('publishes its tools with what they do, and its books begin with one trip', async () => {
  const { client, call } = await visit('current', []);
  const { tools } = await client.listTools();
  expect(tools.map(({ name, title, annotations }) => [name, title, annotations?.readOnlyHint])).toEqual([
    ['book_trip', 'Book a trip', false],
    ['plan_offsite', 'Plan an offsite', false],
    ['pay_deposit', 'Pay a deposit', false],
    ['list_trips', 'List trips', true],
  ]);
  expect(textOf(await call('list_trips'))).toMatch(
    /^T-1001 Porto, \d{4}-\d\d-\d\d, 5 nights, Alice Adams \(deposit of 180 € due\)$/,
  );
});

describe.each(eras)('book_trip, for clients of the %s protocol', (era) => {
  test('asks one form with every kind of field, and books what was filled in', async () => {
    const extra = { extras: ['lounge', 'train'], windowSeat: false, loyaltyNumber: 'LH123456' };
    const { call, asked } = await visit(era, [accept({ ...details, ...extra })]);
    const result = await call('book_trip', { destination: 'Lisbon' });
    expect(textOf(result)).toBe(
      `Booked T-1002 Lisbon, ${details.departure}, 2 nights, Bob Brown (deposit of 82 € due)\nA deposit of 82 € is due; pay_deposit takes it.`,
    );
    expect(result.structuredContent).toEqual({ status: 'booked', trip: 'T-1002' });
    expect(desk.books.trips).toHaveLength(2);
    expect(desk.books.trips[1]).toMatchObject({ destination: 'Lisbon', ...details, ...extra });

    expect(asked.map(({ message }) => message)).toEqual(['Your trip to Lisbon: what should we book?']);
    const { properties = {}, required } = asked[0]?.requestedSchema ?? {};
    const kinds = Object.entries(properties).map(([name, { type, format = '', oneOf, enum: words, items }]) =>
      [name, type, format, oneOf ? 'titled' : words ? 'untitled' : items ? 'several' : ''].join(' ').trim(),
    );
    expect(kinds).toEqual([
      'traveller string',
      'email string email',
      'departure string date',
      'pickUp string date-time',
      'nights integer',
      'budget number',
      'windowSeat boolean',
      'class string  titled',
      'meals string  untitled',
      'extras array  several',
      'loyaltyNumber string',
    ]);
    expect(required).not.toContain('loyaltyNumber');
  });

  test('tells a user who does not want it from one who just closed the form', async () => {
    const { call } = await visit(era, [decline, dismiss]);
    const declined = await call('book_trip', { destination: 'Lisbon' });
    const dismissed = await call('book_trip', { destination: 'Lisbon' });
    expect([declined.structuredContent, dismissed.structuredContent]).toEqual([
      { status: 'declined' },
      { status: 'dismissed' },
    ]);
    expect(textOf(declined)).toContain('decided against');
    expect(textOf(dismissed)).toContain('without deciding');
    expect(desk.books.trips).toHaveLength(1);
  });

  test('asks again for what cannot be right, and keeps the rest as it was entered', async () => {
    const { call, asked } = await visit(era, [
      accept({ ...details, pickUp: `${inDays(40)}T05:30:00Z` }),
      accept({ ...details, departure: inDays(-9), pickUp: `${inDays(-9)}T05:30:00Z` }),
      accept({ ...details, pickUp: `${inDays(29)}T23:30:00Z` }),
    ]);
    const result = await call('book_trip', { destination: 'Lisbon' });
    expect(asked.slice(1).map(({ message }) => message)).toEqual([
      `Please check your trip to Lisbon: the taxi has to come on ${details.departure} or the day before.`,
      'Please check your trip to Lisbon: the day of departure is over.',
    ]);
    const again = asked[1]?.requestedSchema?.properties ?? {};
    expect([again['traveller']?.['default'], again['budget']?.['default']]).toEqual(['Bob Brown', 812.5]);
    expect(again['loyaltyNumber']).not.toHaveProperty('default');
    expect(result.structuredContent).toEqual({ status: 'booked', trip: 'T-1002' });
  });

  test('gives up on a form that stays wrong', async () => {
    const wrong = accept({ ...details, pickUp: `${inDays(40)}T05:30:00Z` });
    const { call, asked } = await visit(era, [wrong, wrong, wrong, wrong, wrong]);
    const result = await call('book_trip', { destination: 'Lisbon' });
    expect(asked).toHaveLength(5);
    expect(result.isError).toBe(true);
    expect(desk.books.trips).toHaveLength(1);
  });
});

describe('between two rounds', () => {
  const question = { name: 'book_trip', arguments: { destination: 'Lisbon' } };
  const filledIn = { trip: { action: 'accept', content: details } };

  async function begin(): Promise<Visit & { state: string }> {
    const guest = await visit('current', []);
    const first = await guest.round(question);
    if (!isInputRequiredResult(first)) throw new Error('It did not ask.');
    return { ...guest, state: first.requestState ?? '' };
  }

  test('an answer that breaks the form is asked for again', async () => {
    const { round, state } = await begin();
    const content = { ...details, nights: 99, email: 'nobody' };
    const again = await round({
      ...question,
      inputResponses: { trip: { action: 'accept', content } },
      requestState: state,
    });
    expect(again).toMatchObject({
      resultType: 'input_required',
      inputRequests: { trip: { params: { message: expect.stringMatching(/nights.*30|30.*nights/s) } } },
    });
    expect(desk.books.trips).toHaveLength(1);
  });

  test('the same answer twice books once', async () => {
    const { round, state } = await begin();
    const retry = { ...question, inputResponses: filledIn, requestState: state };
    const [one, other] = [await round(retry), await round(retry)];
    expect([one, other].map((result) => (result as CallToolResult).structuredContent)).toEqual([
      { status: 'booked', trip: 'T-1002' },
      { status: 'booked', trip: 'T-1002' },
    ]);
    expect(desk.books.trips).toHaveLength(2);
  });

  test('a restart changes nothing', async () => {
    const { state } = await begin();
    await desk.stop();
    desk = await startTravelDesk({ port: 0, dataDir });
    const { round } = await visit('current', []);
    const result = await round({ ...question, inputResponses: filledIn, requestState: state });
    expect(result).toMatchObject({ structuredContent: { status: 'booked' } });
  });

  test('a forged state is refused', async () => {
    const { round, state } = await begin();
    const [version, body = '', mac] = state.split('.');
    const forged = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
      p: { state: { attempt: number } };
    };
    forged.p.state.attempt = -1_000;
    const requestState = [version, Buffer.from(JSON.stringify(forged)).toString('base64url'), mac].join('.');
    await expect(round({ ...question, inputResponses: filledIn, requestState })).rejects.toThrow(
      'Invalid or expired requestState',
    );
    expect(desk.books.trips).toHaveLength(1);
  });

  test('a state that was made for another call is refused', async () => {
    const { round, state } = await begin();
    for (const call of [
      { name: 'book_trip', arguments: { destination: 'Madrid' } },
      { name: 'plan_offsite', arguments: {} },
    ]) {
      const result = await round({ ...call, inputResponses: filledIn, requestState: state });
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('another call') }],
      });
    }
    expect(desk.books.trips).toHaveLength(1);
  });

  test('a client that cannot show forms is told so, and asked nothing', async () => {
    const { round } = await visit('current', [], { url: {} });
    await expect(round(question)).rejects.toMatchObject({ code: -32021 });
  });
});

describe.each(eras)('plan_offsite, for clients of the %s protocol', (era) => {
  const choicesOf = (asked: Asked | undefined, field: string) =>
    (asked?.requestedSchema?.properties[field]?.['oneOf'] as { const: string; title: string }[]) ?? [];
  const firstSlot: Answer = (asked) => ({
    action: 'accept',
    content: { start: choicesOf(asked, 'start')[0]?.const ?? '' },
  });

  test('leads through city, days, people and the decision, each made from what came before', async () => {
    const { call, asked } = await visit(era, [
      accept({ city: 'copenhagen' }),
      firstSlot,
      accept({ people: ['alice', 'eva'] }),
      accept({ reserve: true }),
    ]);
    const result = await call('plan_offsite');
    expect(result.structuredContent).toEqual({ status: 'reserved', offsite: 'O-1001' });
    expect(desk.books.offsites).toMatchObject([
      { city: 'Copenhagen', people: ['alice', 'eva'], status: 'reserved' },
    ]);
    expect(asked.map(({ requestedSchema }) => Object.keys(requestedSchema?.properties ?? {}))).toEqual([
      ['city'],
      ['start'],
      ['people'],
      ['reserve'],
    ]);
    expect(choicesOf(asked[1], 'start')).toHaveLength(2);
    expect(asked[2]?.requestedSchema?.properties['people']).toMatchObject({ minItems: 2, maxItems: 3 });
    const days = choicesOf(asked[1], 'start')[0]?.title;
    expect(asked[3]?.message).toBe(`All set: Havnehuset in Copenhagen, ${days}, for Alice Adams, Eva Egger.`);
    expect(textOf(result)).toBe(
      `O-1001: Reserved Havnehuset in Copenhagen, ${days}, for Alice Adams, Eva Egger.`,
    );
  });

  test('keeps a draft for those who do not reserve', async () => {
    const { call } = await visit(era, [
      accept({ city: 'vienna' }),
      firstSlot,
      accept({ people: ['alice', 'bob'] }),
      accept({ reserve: false }),
    ]);
    const result = await call('plan_offsite');
    expect(result.structuredContent).toEqual({ status: 'draft', offsite: 'O-1001' });
    expect(textOf(result)).toContain('nothing reserved');
  });

  test('ends at any step, and says where', async () => {
    const { call } = await visit(era, [
      accept({ city: 'lisbon' }),
      firstSlot,
      decline,
      accept({ city: 'lisbon' }),
      dismiss,
    ]);
    expect(textOf(await call('plan_offsite'))).toContain('decided against the offsite when asked who comes');
    expect(textOf(await call('plan_offsite'))).toContain('closed the form when asked for the days');
    expect(desk.books.offsites).toEqual([]);
  });
});

test('a slot of another city is asked for again, and after three times the wizard ends', async () => {
  const guest = await visit('current', []);
  const call = { name: 'plan_offsite', arguments: {} };
  const answer = (inputResponses: object, result: CallToolResult | InputRequiredResult) =>
    guest.round({ ...call, inputResponses, requestState: (result as InputRequiredResult).requestState });
  let result = await answer(
    { city: { action: 'accept', content: { city: 'vienna' } } },
    await guest.round(call),
  );
  const wrong = { start: { action: 'accept', content: { start: '1999-01-01' } } };
  for (let attempt = 1; attempt < 3; attempt += 1) {
    result = await answer(wrong, result);
    expect(result).toMatchObject({
      inputRequests: { start: { params: { message: expect.stringContaining('Please check') } } },
    });
  }
  expect(await answer(wrong, result)).toMatchObject({ isError: true });
});

describe.each(eras)('pay_deposit, for clients of the %s protocol', (era) => {
  /** Opens the page and presses its button. */
  const pay: Answer = async ({ url = '' }) => {
    const browser = openBrowser();
    await browser.press(await browser.get(url), 'Pay 180 €');
    return { action: 'accept' };
  };

  test('sends the user to a page, and is done when it is paid there', async () => {
    const { call, asked } = await visit(era, [pay]);
    const result = await call('pay_deposit', { trip: 'T-1001' });
    expect(textOf(result)).toBe('The deposit of 180 € for trip T-1001 to Porto is paid.');
    expect(asked).toMatchObject([
      { mode: 'url', message: 'Pay the deposit of 180 € for trip T-1001 to Porto.' },
    ]);
    expect(asked[0]?.url).toMatch(/^http:\/\/localhost:\d+\/pay\/[\w-]{16}$/);
    expect(desk.books.trips[0]?.deposit.paidAt).not.toBeNull();
    expect((await call('pay_deposit', { trip: 'T-1001' })).structuredContent).toEqual({
      status: 'paid',
      trip: 'T-1001',
    });
  });

  test('waits for the money after the user has said that they are there', async () => {
    const payments: Promise<unknown>[] = [];
    const { call } = await visit(era, [
      ({ url = '' }) => {
        // They press the button when their "yes" has long arrived.
        payments.push(delay(60).then(() => fetch(url, { method: 'POST' })));
        return { action: 'accept' };
      },
    ]);
    const result = await call('pay_deposit', { trip: 'T-1001' });
    await Promise.all(payments);
    expect(result.structuredContent).toMatchObject({ status: 'paid' });
  });

  test('asks once more when nothing was paid, and then leaves it', async () => {
    const { call, asked } = await visit(era, [accept(), accept()]);
    const result = await call('pay_deposit', { trip: 'T-1001' });
    expect(asked.map(({ message }) => message)).toEqual([
      'Pay the deposit of 180 € for trip T-1001 to Porto.',
      'The deposit of 180 € for trip T-1001 has not arrived yet. Press Pay on the page, then come back.',
    ]);
    expect(asked[1]?.url).toBe(asked[0]?.url);
    expect(result.structuredContent).toEqual({ status: 'unpaid', trip: 'T-1001' });
  });

  test('leaves it due when the user would rather not, or just closes the question', async () => {
    const { call } = await visit(era, [decline, dismiss]);
    expect((await call('pay_deposit', { trip: 'T-1001' })).structuredContent).toMatchObject({
      status: 'declined',
    });
    expect((await call('pay_deposit', { trip: 'T-1001' })).structuredContent).toMatchObject({
      status: 'dismissed',
    });
    expect(desk.books.trips[0]?.deposit.paidAt).toBeNull();
  });
});

test('a trip that does not exist has no deposit', async () => {
  const { call } = await visit('current', []);
  expect(await call('pay_deposit', { trip: 'T-1' })).toMatchObject({ isError: true });
});

describe('the payment page', () => {
  test('says who pays what; opening it pays nothing, and paying twice changes nothing', async () => {
    const { asked, call } = await visit('current', [decline]);
    await call('pay_deposit', { trip: 'T-1001' });
    const url = asked[0]?.url ?? '';
    const browser = openBrowser();
    const page = await browser.get(url);
    for (const fact of ['T-1001, Porto', 'Alice Adams', '5 nights', '180 €'])
      expect(page.text).toContain(fact);
    expect(desk.books.trips[0]?.deposit.paidAt).toBeNull();
    const paid = await browser.press(page, 'Pay 180 €');
    expect(paid.text).toContain('The deposit is paid');
    const first = desk.books.trips[0]?.deposit.paidAt;
    await browser.press(page, 'Pay 180 €');
    expect(desk.books.trips[0]?.deposit.paidAt).toBe(first);
  });

  test('writes what people entered as text', async () => {
    const { call } = await visit('current', [accept({ ...details, traveller: '<b>Bob</b>' })]);
    await call('book_trip', { destination: '<i>Rome' });
    const payment = desk.books.trips[1]?.payment;
    const html = await (await fetch(`${desk.origin}/pay/${payment}`)).text();
    expect(html).not.toMatch(/<b>|<i>/);
  });

  test('an address that belongs to no trip is not found', async () => {
    const response = await fetch(`${desk.origin}/pay/guessed`, { method: 'POST' });
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining('nothing to pay'),
    ]);
  });
});
