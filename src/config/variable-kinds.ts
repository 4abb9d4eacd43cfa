/** What may stand in a variable of the environment, by kind. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { parseKeys, SealingError } from '../credentials/sealing/key-ring.ts';
import { readSigningKeys } from './signing-keys.ts';

export const port = z.coerce.number('write a port number').int().min(0).max(65_535);
export const positive = z.coerce.number('write a whole number').int().positive();
/** Goes into queries, and `:` separates the two. */
export const plainName = z.string().regex(/^[\w.-]{1,128}$/, 'write letters, digits, . _ and -');
export const httpUrl = z.url({ protocol: /^https?$/ });
export const baseUrl = httpUrl.transform((url) => url.replace(/\/+$/, ''));

/** Proxies in front: which ones, or all that call. Anything else would end the start with an error of Fastify's. */
export const trustedProxies = z
  .string()
  .transform((text): string[] | boolean => {
    const word = text.trim().toLowerCase();
    return word === 'true' || word === 'false' ? word === 'true' : parts(text);
  })
  .refine((trusted) => typeof trusted === 'boolean' || trusted.every(isProxy), {
    error:
      'write addresses or networks, separated by commas, or true for a service that only its proxies reach',
  });

/** The names are those of `proxy-addr`. */
function isProxy(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const version = isIP(address);
  const isNetwork =
    bits === undefined ||
    isIP(bits) === 4 ||
    (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  return version !== 0 && isNetwork && more.length === 0;
}

export const origins = z
  .string()
  .transform(parts)
  .refine((list) => list.every(isOrigin), {
    error: 'write the origins of pages, like https://app.example, separated by commas and without a path',
  });

export const hostNames = z
  .string()
  .transform((text) => parts(text.toLowerCase()))
  .refine((names) => names.every((name) => /^[\w-]+(\.[\w-]+)*$/.test(name)), {
    error: 'write host names without scheme and port, like interlude.internal, separated by commas',
  });

export const returnUrls = z
  .string()
  .transform(parts)
  .refine((urls) => urls.every(isReturnUrl), {
    error: 'write where people may be sent back to, like https://app.example/chat/, separated by commas',
  });

/** `k1:…,k2:…`; kept as it is written. */
export const keys = z.string().check(({ value, issues }) => {
  const message = faultOfKeys(value);
  if (message !== null) issues.push({ code: 'custom', input: undefined, message });
});

/** A private JWK, or a set of them. */
export const signingKeys = z.string().transform((text, { addIssue }) => {
  const keys = readSigningKeys(text);
  if (keys) return keys;
  addIssue({
    code: 'custom',
    message:
      'write a private key as a JWK (RFC 7517) of type EC with P-256 or P-384, OKP with Ed25519, or RSA, or a set of them: {"keys":[…]}, newest first',
  });
  return z.NEVER;
});

export const metricsExporters = z
  .string()
  .transform(parts)
  .pipe(
    z.array(z.enum(['otlp', 'prometheus', 'none'], 'write otlp, prometheus, both with a comma, or none')),
  );

export const otlpProtocol = z.enum(['http/protobuf'], 'write http/protobuf; no other is supported');

function parts(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

/** As browsers write it; anything else would never match. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** With a path, so that nobody takes https://app.example for a prefix of https://app.example.evil. */
function isReturnUrl(text: string): boolean {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash, href } = new URL(text);
  return username + password + search + hash === '' && (href === text || href === `${text}/`);
}

function faultOfKeys(text: string): string | null {
  try {
    parseKeys(text);
    return null;
  } catch (error) {
    if (error instanceof SealingError) return error.message.replace('INTERLUDE_KEYS: ', '');
    throw error;
  }
}
