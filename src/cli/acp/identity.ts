/**
 * Who the user of this program is: by a token that was given, by the kept login, or at the demo as one of its users. Never
 * by the id of a session.
 */
import { readFileSync } from 'node:fs';
import { RequestError } from '@agentclientprotocol/sdk';
import { fileTrouble } from '../../config/file-trouble.ts';
import { findToken } from '../login/find-token.ts';
import type { TokenSource } from '../login/find-token.ts';
import { signInWithBrowser } from '../login/in-browser.ts';
import type { KeptLogins } from '../login/kept-logins.ts';
import { signIn } from '../login/sign-in.ts';
import { signOut } from '../login/sign-out.ts';
import type { Say } from '../login/signed-in.ts';

export interface IdentityParts {
  service: string;
  logins: KeptLogins;
  /** Instead of a login. */
  token: string | undefined;
  /** A file with the token, read anew for each one that is needed. */
  tokenFile: string | undefined;
  /** A user of the demo. */
  as: string | undefined;
  /** Never to stdout. */
  say: Say;
  /** Opens an address in a browser; the system's unless given. */
  open?: (url: string) => void;
}

export interface Identity {
  /** Whether signing in and out is this program's to do. */
  isLogin: boolean;
  /** Throws what an editor answers with a way to sign in. */
  require(): Promise<void>;
  /** For the client: asked again when the service has refused what it gave. */
  token(): Promise<string>;
  signIn(): Promise<void>;
  signOut(): Promise<void>;
}

export function createIdentity(parts: IdentityParts): Identity {
  const { service, logins, tokenFile, as, say, open } = parts;
  const given = () => (tokenFile === undefined ? parts.token : readToken(tokenFile));
  let source: TokenSource | undefined;
  let last: string | undefined;

  async function next(): Promise<string> {
    source ??= await findToken(logins, { service, token: given(), as });
    return tokenFile === undefined ? source.token(last) : readToken(tokenFile);
  }

  return {
    isLogin: tokenFile === undefined && parts.token === undefined,
    async require() {
      if (last !== undefined) return;
      try {
        last = await next();
      } catch (error) {
        source = undefined;
        throw RequestError.authRequired(undefined, error instanceof Error ? error.message : String(error));
      }
    },
    async token() {
      try {
        last = await next();
      } catch (error) {
        // A login that has ended does not come back by waiting: the service says so to whoever asks it.
        if (last === undefined || logins.read(service) !== null) throw error;
      }
      return last;
    },
    async signIn() {
      const sign: typeof signInWithBrowser = (place, more) =>
        signInWithBrowser(place, { ...more, ...(open && { open }) });
      await signIn({ service, logins, say, sign });
      source = undefined;
      last = undefined;
    },
    async signOut() {
      await signOut(logins, service);
      source = undefined;
      last = undefined;
    },
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`${fileTrouble(file, cause)}.`, { cause });
  }
}

function readToken(file: string): string {
  const token = textOf(file).trim();
  if (token === '') throw new Error(`There is no token in ${file}.`);
  return token;
}
