/**
 * One POST to an address that a caller has named, which is untrusted: on the internet only https and public addresses, and
 * no redirects. The body of the response is not read.
 */
import { isIP } from 'node:net';
import { fetch } from 'undici';
import type { Dispatcher } from 'undici';
import { allowsAddress, bareHost, isLocalHost } from './addresses.ts';
import { AddressRefused, createGuardedAgent } from './guarded-agent.ts';
import type { Reach } from './addresses.ts';

type Posted =
  | { kind: 'taken' }
  /** It answered 410: it wants no more requests. */
  | { kind: 'gone' }
  /** `reason` contains neither a path nor what was sent. `isSlow`: it used up its time. */
  | { kind: 'failed'; reason: string; retryAfterMs: number | null; isSlow: boolean };

interface Webhooks {
  post(url: string, headers: Record<string, string>, body: string): Promise<Posted>;
  close(): Promise<void>;
}

interface Options {
  timeoutMs?: number;
  agentOf?: (reach: Reach) => Dispatcher;
}

const longest = 2_000;

/** Checks an address without looking up its name: returns advice, or null. The rest is checked on connecting. */
export function webhookProblem(text: string, reach: Reach): string | null {
  if (text.length > longest || !URL.canParse(text)) return `send an address of at most ${longest} characters`;
  const { protocol, username, password, hostname } = new URL(text);
  if (username !== '' || password !== '') return 'leave the password out; send it as authentication';
  if (protocol !== 'https:' && (protocol !== 'http:' || reach === 'public')) return 'begin with https://';
  const host = bareHost(hostname);
  const isRefused = isIP(host) === 0 ? reach === 'public' && isLocalHost(host) : !allowsAddress(host, reach);
  return isRefused ? 'name a host on the internet' : null;
}

export function createWebhooks(
  reach: Reach,
  { timeoutMs = 10_000, agentOf = createGuardedAgent }: Options = {},
): Webhooks {
  const agent = agentOf(reach);
  return {
    async post(url, headers, body) {
      const problem = webhookProblem(url, reach);
      if (problem !== null)
        return { kind: 'failed', reason: 'its address is not allowed', retryAfterMs: null, isSlow: false };
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers,
          body,
          redirect: 'manual',
          dispatcher: agent,
          signal,
        });
        await response.body?.cancel();
        return outcomeOf(response.status, response.headers.get('retry-after'));
      } catch (error) {
        const reason = reasonOf(error, signal, timeoutMs);
        return { kind: 'failed', reason, retryAfterMs: null, isSlow: signal.aborted };
      }
    },
    close: () => agent.close(),
  };
}

function outcomeOf(status: number, retryAfter: string | null): Posted {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  if (status === 410) return { kind: 'gone' };
  const isRedirect = status >= 300 && status < 400;
  const isUnauthorized = status === 401 || status === 403;
  const remedy = isRedirect
    ? '; redirects are not followed'
    : isUnauthorized
      ? '; it does not accept the credentials that it was named with'
      : '';
  const reason = `it answered HTTP ${status}${remedy}`;
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : null;
  const retryAfterMs = seconds === null ? null : seconds * 1_000;
  return { kind: 'failed', reason, retryAfterMs, isSlow: false };
}

function reasonOf(error: unknown, timeout: AbortSignal, timeoutMs: number): string {
  if (timeout.aborted) return `it did not answer within ${timeoutMs / 1_000} s`;
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AddressRefused) return 'its host has an address that is not allowed';
  return cause instanceof Error && 'code' in cause
    ? `it cannot be reached (${String(cause.code)})`
    : 'it cannot be reached';
}
