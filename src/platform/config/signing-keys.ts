/** Keys that sign our agent cards and notifications: JWKs (RFC 7517), named by their thumbprints by default. */
import { createPrivateKey, hash } from 'node:crypto';
import { z } from 'zod';

export interface SigningKey {
  kid: string;
  alg: 'ES256' | 'ES384' | 'EdDSA' | 'RS256';
  /** With its private part. */
  jwk: Record<string, string>;
}

const text = z.string().min(1);
const named = { kid: z.string().min(1).max(200).optional() };
const JwkSchema = z.discriminatedUnion('kty', [
  z.object({ kty: z.literal('EC'), crv: z.enum(['P-256', 'P-384']), x: text, y: text, d: text, ...named }),
  z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: text, d: text, ...named }),
  z.object({
    kty: z.literal('RSA'),
    n: text,
    e: text,
    d: text,
    p: text,
    q: text,
    dp: text,
    dq: text,
    qi: text,
    ...named,
  }),
]);
type Jwk = z.infer<typeof JwkSchema>;
const KeysSchema = z.union([
  JwkSchema.transform((key) => [key]),
  z.object({ keys: z.array(JwkSchema).min(1) }).transform(({ keys }) => keys),
]);

/** Null for an invalid one. */
export function readSigningKeys(given: string): SigningKey[] | null {
  const { data } = KeysSchema.safeParse(jsonOf(given));
  if (!data || !data.every(isUsable)) return null;
  return data.map(({ kid, ...jwk }) => ({ kid: kid ?? thumbprint(jwk), alg: algorithmOf(jwk), jwk }));
}

/** The public part, for verification. */
export function publicJwk({ kid, alg, jwk }: SigningKey): Record<string, string> {
  const members = ['kty', 'crv', 'x', 'y', 'n', 'e'].flatMap((name) => {
    const value = jwk[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(members), kid, alg, use: 'sig' };
}

function jsonOf(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    return null;
  }
}

function isUsable(jwk: Jwk): boolean {
  try {
    createPrivateKey({ key: jwk, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}

function algorithmOf(jwk: Jwk): SigningKey['alg'] {
  switch (jwk.kty) {
    case 'EC':
      return jwk.crv === 'P-256' ? 'ES256' : 'ES384';
    case 'OKP':
      return 'EdDSA';
    case 'RSA':
      return 'RS256';
    default:
      return jwk satisfies never;
  }
}

/** RFC 7638: the required members, in the order of their names. */
function thumbprint(jwk: Jwk): string {
  const members = jwk.kty === 'RSA' ? { e: jwk.e, kty: jwk.kty, n: jwk.n } : curveMembers(jwk);
  return hash('sha256', JSON.stringify(members), 'base64url');
}

function curveMembers(jwk: Exclude<Jwk, { kty: 'RSA' }>): Record<string, string> {
  const { crv, kty, x } = jwk;
  return jwk.kty === 'EC' ? { crv, kty, x, y: jwk.y } : { crv, kty, x };
}
