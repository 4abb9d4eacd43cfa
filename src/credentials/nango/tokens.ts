/**
 * Tokens in memory, each for as long as it is valid, and read from Nango only once however many calls ask at the same time.
 * A token belongs to one version of a connection, so a new connection never gets an old token.
 */
import { renewAt } from '../oauth/tokens.ts';
import { fitsInHeader, tokenIdOf } from '../credential-store.ts';
import type { NangoClient } from './client.ts';
import type { Link } from './link.ts';

export interface Token {
  accessToken: string;
  /** Identifies the token without revealing it. */
  id: string;
  /** Until when it is not read again, and until when it can be used if Nango is down; epoch milliseconds. */
  freshUntil: number;
  endsAt: number;
}

/** Nango has no token of this connection for us. */
export class NoTokenError extends Error {
  override name = 'NoTokenError';
}

interface Held {
  link: Link;
  version: number;
}

/** For a token without an expiry, which may have been replaced at Nango. */
const readAgainMs = 300_000;
const maxHeld = 5_000;

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens({ client, now }: { client: NangoClient; now: () => number }) {
  const held = new Map<string, Token>();
  const underWay = new Map<string, Promise<Token>>();
  const nameOf = ({ link, version }: Held) => `${version}/${link.connectionId}`;

  async function read(of: Held, renew: boolean): Promise<Token> {
    const { link } = of;
    const { token } = await client.read(link.integration, link.connectionId, { renew });
    if (!token || !fitsInHeader(token.accessToken)) throw new NoTokenError('no bearer token');
    const read = toToken(token, now());
    keep(nameOf(of), read);
    return read;
  }

  /** Least recently used tokens are dropped first. */
  function keep(name: string, token: Token): void {
    held.delete(name);
    held.set(name, token);
    const [oldest] = held.keys();
    if (held.size > maxHeld && oldest !== undefined) held.delete(oldest);
  }

  return {
    held(of: Held): Token | null {
      const name = nameOf(of);
      const token = held.get(name);
      if (!token) return null;
      if (now() >= token.endsAt) {
        held.delete(name);
        return null;
      }
      keep(name, token);
      return token;
    },
    async read(of: Held, { renew = false } = {}): Promise<Token> {
      const name = `${renew}/${nameOf(of)}`;
      const before = underWay.get(name);
      if (before) return before;
      const reading = read(of, renew).finally(() => underWay.delete(name));
      underWay.set(name, reading);
      return reading;
    },
    forget(of: Held): void {
      held.delete(nameOf(of));
    },
  };
}

function toToken(
  { accessToken, expiresAt }: { accessToken: string; expiresAt: number | null },
  now: number,
): Token {
  const id = tokenIdOf(accessToken);
  if (expiresAt === null) return { accessToken, id, freshUntil: now + readAgainMs, endsAt: Infinity };
  return { accessToken, id, freshUntil: renewAt({ from: now, expiresAt }), endsAt: expiresAt };
}
