/**
 * Whether a request comes from Slack: an HMAC over the very bytes and the time at which they were sent. What is older
 * than five minutes may be a replay of something overheard, and counts for nothing however well it is signed.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedRequest {
  body: Buffer;
  /** The headers `x-slack-request-timestamp` and `x-slack-signature`, as they came. */
  timestamp: unknown;
  signature: unknown;
}

const freshSeconds = 5 * 60;

export function verifySignature(
  secret: string,
  { body, timestamp, signature }: SignedRequest,
  now: number,
): 'signed' | 'stale' | 'forged' {
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return 'forged';
  if (typeof signature !== 'string' || !/^v0=[0-9a-f]{64}$/.test(signature)) return 'forged';
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature.slice('v0='.length), 'hex'))) return 'forged';
  return Math.abs(now / 1000 - Number(timestamp)) > freshSeconds ? 'stale' : 'signed';
}
