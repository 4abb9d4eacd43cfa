/** Whether a page's report is by who holds the secret, is about this question, and is fresh. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedReport {
  elicitationId: string;
  /** As it came, byte by byte. */
  body: Buffer;
  /** `t=<epoch seconds>,v1=<hex>`; several `v1` while a secret is being replaced. */
  signature: unknown;
}

/** How far the clocks may be apart, and how long a report may be on its way. */
const toleranceMs = 5 * 60_000;

/** Every part is looked at whatever the others say, so that nothing can be learned from how long it takes. */
export function isSignedReport(secret: string, report: SignedReport, now: number): boolean {
  const { elicitationId, body, signature } = report;
  if (typeof signature !== 'string' || signature.length > 1_000) return false;
  const parts = signature.split(',').map((part) => part.trim());
  const [time, ...times] = parts.flatMap((part) => /^t=(\d{1,12})$/.exec(part)?.[1] ?? []);
  if (time === undefined || times.length > 0) return false;
  const expected = createHmac('sha256', secret).update(`${time}.${elicitationId}.`).update(body).digest();
  const given = parts.flatMap((part) => /^v1=([0-9a-f]{64})$/i.exec(part)?.[1] ?? []);
  const isRight = given.filter((hex) => timingSafeEqual(expected, Buffer.from(hex, 'hex'))).length > 0;
  return isRight && Math.abs(now - Number(time) * 1000) <= toleranceMs;
}
