/** Third-party servers, or servers made with third-party SDKs, each with a tool that asks one form. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTravelDesk } from '../../../demo/travel/travel.ts';
import { startAskingServer } from '../../servers/asking-server.ts';
import { everythingFilled, startEverything } from '../../servers/everything-server.ts';
import { fastmcpVersions, startFastMCP } from '../../servers/fastmcp.ts';
import { startNoisyServer } from '../../servers/noisy-server.ts';
import { startV1Server } from '../../servers/v1-server.ts';

export type Action = 'accept' | 'decline' | 'cancel';

export interface Peer {
  name: string;
  era: 'modern' | 'legacy';
  call: string[];
  /** What is filled in, in the order of the form. */
  content: Record<string, string | number | boolean | string[]>;
  /** The exit code and the result's text. */
  ends: Record<Action, [code: number, words: RegExp]>;
  /** What it says is the same each time; all but its state; or nothing much. */
  repeats: 'bytes' | 'words' | 'never';
  start(): Promise<Running>;
}

export type Running = { url: string; stop(): Promise<void> } | { missing: string };

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const booking: Pick<Peer, 'call' | 'content' | 'repeats'> = {
  call: ['--tool', 'book', '--args', 'city=Rome'],
  content: { nights: 3 },
  repeats: 'bytes',
};
const books = (code: number): Peer['ends'] => ({
  accept: [0, /booked Rome for 3/],
  decline: [code, /not booked: decline/],
  cancel: [code, /not booked: cancel/],
});
const ofUrl = <Server extends { config: { url: string }; stop(): Promise<void> }>(server: Server) => ({
  url: server.config.url,
  stop: () => server.stop(),
});
const fastMCP = async (version: keyof typeof fastmcpVersions): Promise<Running> => {
  const started = await startFastMCP(version, { hasEventIds: false });
  return started.kind === 'ready' ? started.server : { missing: started.why };
};

export const peers: Peer[] = [
  {
    name: 'the reference server with everything',
    era: 'legacy',
    call: ['--tool', 'trigger-elicitation-request'],
    content: everythingFilled,
    ends: { accept: [0, /provided the requested/], decline: [0, /declined/], cancel: [0, /cancelled/] },
    repeats: 'bytes',
    start: startEverything,
  },
  {
    ...booking,
    name: 'the first SDK',
    era: 'legacy',
    ends: books(0),
    start: () => startV1Server({ hasEventIds: false }),
  },
  {
    ...booking,
    name: 'the first SDK with event ids',
    era: 'legacy',
    ends: books(0),
    start: () => startV1Server({ hasEventIds: true }),
  },
  {
    ...booking,
    name: 'the second SDK',
    era: 'modern',
    ends: books(1),
    start: async () => ofUrl(await startAskingServer({ era: 'both' })),
  },
  {
    ...booking,
    name: 'the second SDK, old era',
    era: 'legacy',
    ends: books(1),
    start: async () => ofUrl(await startAskingServer({ era: 'legacy' })),
  },
  {
    ...booking,
    name: `FastMCP ${fastmcpVersions.third}`,
    era: 'legacy',
    ends: books(0),
    start: () => fastMCP('third'),
  },
  {
    ...booking,
    name: `FastMCP ${fastmcpVersions.fourth}`,
    // It seals its state anew each time.
    repeats: 'words',
    era: 'modern',
    ends: books(0),
    start: () => fastMCP('fourth'),
  },
  {
    ...booking,
    name: 'a hostile server',
    era: 'modern',
    ends: books(0),
    start: async () => ofUrl(await startNoisyServer('modern')),
  },
  {
    ...booking,
    name: 'a hostile server, old era',
    era: 'legacy',
    ends: books(0),
    start: async () => ofUrl(await startNoisyServer('legacy')),
  },
  {
    name: 'the travel desk of the demo',
    era: 'modern',
    call: ['--tool', 'book_trip', '--args', 'destination=Lisbon'],
    content: {
      traveller: 'Ada Lovelace',
      email: 'ada@example.com',
      departure: inDays(30),
      pickUp: `${inDays(30)}T06:30:00Z`,
      nights: 4,
      budget: 1200,
      windowSeat: false,
      class: 'premium',
      meals: 'vegan',
      extras: ['lounge', 'train'],
      loyaltyNumber: 'AB-123456',
    },
    ends: {
      accept: [0, /T-\d+/],
      decline: [0, /not booked|decided against/i],
      cancel: [0, /without deciding/],
    },
    // Trips are numbered, and its state knows when it was made.
    repeats: 'never',
    async start() {
      const dataDir = await mkdtemp(path.join(tmpdir(), 'travel-'));
      const { url, stop } = await startTravelDesk({ port: 0, dataDir, paymentWaitMs: 100 });
      return { url, stop: () => stop().then(() => rm(dataDir, { recursive: true })) };
    },
  },
];
