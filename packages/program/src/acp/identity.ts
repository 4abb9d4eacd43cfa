/** The user of this program: given by a token, by the kept login, or a user of the demo. Never by the id of a session. */
import { readFileSync } from 'node:fs';
import { RequestError } from '@agentclientprotocol/sdk';
import { fileTrouble } from '@interlude-ai/core/file-trouble.ts';
import { findToken } from '../login/find-token.ts';
import type { TokenSource } from '../login/find-token.ts';
import type { KeptLogins } from '@interlude-ai/kit/terminal/kept-files.ts';
import { signIn, signInWithBrowser, signOut } from '../login/sign-in.ts';
import type { Say } from '../login/sign-in.ts';

interface IdentityParts {
  service: string;
  logins: KeptLogins;
  /** Instead of a login. */
  token: string | undefined;
  /** A file with the token, read each time one is needed. */
  tokenFile: string | undefined;
  /** A user of the demo. */
  as: string | undefined;
  /** Never to stdout. */
  say: Say;
  /** Opens an address in a browser; the system's by default. */
  open?: (url: string) => void;
}

export class Identity {
  readonly #parts: IdentityParts;
  #source: TokenSource | undefined;
  #last: string | undefined;

  constructor(parts: IdentityParts) {
    this.#parts = parts;
  }

  /** Whether this program signs in and out. */
  get isLogin(): boolean {
    return this.#parts.tokenFile === undefined && this.#parts.token === undefined;
  }

  /** Throws an error to which an editor offers a sign-in. */
  async require(): Promise<void> {
    if (this.#last !== undefined) return;
    try {
      this.#last = await this.#next();
    } catch (error) {
      this.#source = undefined;
      throw RequestError.authRequired(undefined, error instanceof Error ? error.message : String(error));
    }
  }

  /** Called again when the service has refused the token. */
  async token(): Promise<string> {
    const { service, logins } = this.#parts;
    try {
      this.#last = await this.#next();
    } catch (error) {
      // A login that has ended does not come back by waiting: the next request gets the service's refusal.
      if (this.#last === undefined || logins.read(service) !== null) throw error;
    }
    return this.#last;
  }

  async signIn(): Promise<void> {
    const { service, logins, say, open } = this.#parts;
    await signIn(service, logins, (place) => signInWithBrowser(place, { say, ...(open && { open }) }));
    this.#forget();
  }

  async signOut(): Promise<void> {
    await signOut(this.#parts.logins, this.#parts.service);
    this.#forget();
  }

  async #next(): Promise<string> {
    const { service, logins, tokenFile, as } = this.#parts;
    const token = tokenFile === undefined ? this.#parts.token : readToken(tokenFile);
    this.#source ??= await findToken(logins, { service, token, as });
    return tokenFile === undefined ? this.#source.token(this.#last) : readToken(tokenFile);
  }

  #forget(): void {
    this.#source = undefined;
    this.#last = undefined;
  }
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
