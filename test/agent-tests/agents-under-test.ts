/** The agents of `fixtures/agents.yaml` with their servers, for one file. */
import path from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import { callsTool, says, script } from '../../src/agent-tests/index.ts';
import type { AgentsOptions } from '../../src/agent-tests/index.ts';
import { stopServices } from '../../src/agent-tests/service.ts';
import { startBookingServer } from '../servers/booking-server.ts';
import type { BookingServer } from '../servers/booking-server.ts';
import { startAccountServer } from './account-server.ts';

export const trackerToken = 'token-of-alice';

export interface AgentsUnderTest extends AgentsOptions {
  env: Record<string, string>;
  booking: BookingServer;
  held: BookingServer;
}

/** Filled before the first test. */
export function useAgents(): AgentsUnderTest {
  const under = {} as AgentsUnderTest;
  under.file = path.join(import.meta.dirname, 'fixtures/agents.yaml');
  under.timeout = '60s';
  const stack = new AsyncDisposableStack();
  stack.defer(stopServices);
  beforeAll(async () => {
    vi.stubEnv('DESK_NOTEBOOK', '/dev/null');
    stack.defer(() => void vi.unstubAllEnvs());
    under.booking = await startBookingServer('rounds');
    stack.defer(() => under.booking.stop());
    under.held = await startBookingServer('held');
    stack.defer(() => under.held.stop());
    const tracker = await startAccountServer(trackerToken);
    stack.defer(() => tracker.stop());
    under.env = {
      BOOKING_URL: under.booking.config.url,
      HELD_URL: under.held.config.url,
      TRACKER_URL: tracker.config.url,
    };
  });
  afterAll(() => stack.disposeAsync());
  return under;
}

export const books = (city = 'Rome') => script(callsTool('book', { city }), says('Booked.'));
