/**
 * Webhooks about accounts: sent beside everything else, tried three times, and forgotten when the process ends.
 * The signature covers only the body, so a captured webhook can be sent again.
 */
import { createHash, createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { providerName } from './nango-state.ts';
import type { Delivery, KeptConnection, NangoState, Tags } from './nango-state.ts';

type Operation = 'creation' | 'override' | 'refresh';
interface Failure {
  type: string;
  description: string;
}
/** Of a flow that failed there is no connection, and nothing that says whose it was. */
type About = Pick<KeptConnection, 'connectionId' | 'integration'> & { tags?: Tags };

export function announce(state: NangoState, about: About, operation: Operation, error?: Failure): void {
  const { settings } = state;
  const url = settings.webhookUrl;
  const isWanted = operation !== 'creation' || settings.onAuthCreation;
  if (url === undefined || !isWanted || settings.webhook === 'never') return;
  const { connectionId, integration: providerConfigKey, tags } = about;
  const payload = {
    authMode: 'OAUTH2',
    connectionId,
    environment: 'dev',
    ...(error && { error }),
    from: 'nango',
    operation,
    provider: providerName,
    providerConfigKey,
    success: error === undefined,
    ...(tags && { tags }),
    type: 'auth',
  };
  const times = settings.webhook === 'twice' ? 2 : 1;
  const body = JSON.stringify(payload);
  for (let time = 0; time < times; time++) void deliver(state, url, body);
}

async function deliver(state: NangoState, url: string, body: string): Promise<void> {
  const { webhook, webhookRetryMs } = state.settings;
  if (typeof webhook === 'object') await delay(webhook.delayMs, undefined, { ref: false });
  const headers = signed(state.webhookSigningKey, body);
  const delivery: Delivery = { url, body, headers, tries: [] };
  state.deliveries.push(delivery);
  for (const pause of [0, ...webhookRetryMs]) {
    if (pause > 0) await delay(pause, undefined, { ref: false });
    const isLost = webhook === 'failFirst' && delivery.tries.length === 0;
    const status = isLost ? 0 : await post(url, body, headers);
    delivery.tries.push(status);
    if (status !== 0 && status < 500) break;
  }
  state.settled++;
  for (const wake of state.waiting.splice(0)) wake();
}

export function signed(key: string, body: string): Record<string, string> {
  return {
    'x-nango-hmac-sha256': createHmac('sha256', key).update(body).digest('hex'),
    'x-nango-signature': createHash('sha256').update(`${key}${body}`).digest('hex'),
  };
}

/** Status, or 0 when there was no answer. */
export async function post(url: string, body: string, headers: Record<string, string>): Promise<number> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'user-agent': 'nango/double', ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(20_000),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return 0;
  }
}
