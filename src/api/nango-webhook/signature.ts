/** Whether a webhook comes from Nango: an HMAC over the very bytes. Its older signature, a plain hash, counts for nothing. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export function isSignedBy(signingKey: string, body: Buffer, signature: unknown): boolean {
  if (typeof signature !== 'string' || !/^[0-9a-f]{64}$/i.test(signature)) return false;
  const expected = createHmac('sha256', signingKey).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
