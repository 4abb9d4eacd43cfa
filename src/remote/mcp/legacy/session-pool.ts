/**
 * Sessions of the old era, kept for some seconds after a call: the next one is spared the handshake, which is three
 * requests and a goodbye. Servers of the new era have none, and what connects to them is nobody's in particular.
 *
 * The invariant: a kept session serves one call at a time, and only one that would have opened its equal: of the same
 * owner, at the same server, with the same credential down to its headers, after the same introduction. Whoever calls
 * has just resolved that credential; it is never taken from here. A session comes back when its call has its answer
 * and nothing is open between the two sides, so that what the server says next belongs to the next call.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../../config/config.ts';
import type { Credential } from '../../../credentials/store.ts';
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import type { Connection } from '../connect.ts';
import { goodbyesSaid } from '../../best-effort.ts';
import { headersOf } from '../../request-headers.ts';

/** What a session was opened with. `capabilities`: what its server was told that it may ask. */
export interface Opening {
  server: ServerConfig;
  credential: Credential;
  capabilities: Capabilities;
}

/** Those of one owner: nobody else is served with what a session knows. */
export interface OwnSessions {
  /** For one call, after which it is kept again or closed. */
  take(opening: Opening): Connection | undefined;
  keep(opening: Opening, connection: Connection): void;
  /** Something is wrong there: what is kept is not used any more. */
  drop(server: ServerConfig): void;
}

export interface KeptSessions {
  of(owner: string): OwnSessions;
  /** Keeps nothing from now on. Resolves when every server that was left by this process has been told. */
  close(): Promise<void>;
}

interface Kept {
  /** Whose, and where. */
  place: string;
  account: string;
  introduction: string;
  connection: Connection;
  timer: NodeJS.Timeout;
}

/** Of one owner at one server: calls of one person side by side are few. */
const mostAtOnePlace = 4;
const mostInAll = 200;

/** `idleMs`: how long one waits for the next call, default ten seconds. */
export function createKeptSessions({ idleMs = 10_000 } = {}): KeptSessions {
  /** Oldest first. */
  const kept = new Set<Kept>();
  let isClosed = false;

  function remove(one: Kept): Connection {
    clearTimeout(one.timer);
    kept.delete(one);
    return one.connection;
  }

  function end(one: Kept): void {
    remove(one).close();
  }

  function at(place: string): Kept[] {
    return [...kept].filter((one) => one.place === place);
  }

  function add(what: Omit<Kept, 'timer'>): void {
    const one: Kept = { ...what, timer: setTimeout(() => end(one), idleMs).unref() };
    kept.add(one);
    one.connection.rest((message) => {
      if (kept.has(one) && isQuestion(message)) end(one);
    });
    const here = at(one.place);
    const [excess] = here.length > mostAtOnePlace ? here : [...kept].slice(0, kept.size - mostInAll);
    if (excess) end(excess);
  }

  return {
    of: (owner) => ({
      take(opening) {
        const account = accountOf(opening);
        const introduction = introductionOf(opening);
        for (const one of at(placeOf(owner, opening.server)).toReversed()) {
          // Another credential has taken the place of that one.
          if (one.account !== account || !one.connection.isWhole()) end(one);
          else if (one.introduction === introduction) return remove(one);
        }
        return undefined;
      },
      keep(opening, connection) {
        if (isClosed || !connection.isWhole()) return connection.close();
        const place = placeOf(owner, opening.server);
        add({ place, account: accountOf(opening), introduction: introductionOf(opening), connection });
      },
      drop(server) {
        for (const one of at(placeOf(owner, server))) end(one);
      },
    }),
    async close() {
      isClosed = true;
      for (const one of kept) end(one);
      await goodbyesSaid();
    },
  };
}

function placeOf(owner: string, { name, url }: ServerConfig): string {
  return JSON.stringify([owner, name, url]);
}

function accountOf({ server, credential }: Opening): string {
  const { version, tokenId } = credential;
  return JSON.stringify([version, tokenId ?? null, ...headersOf(server, credential)]);
}

function introductionOf({ capabilities: { form, url } }: Opening): string {
  return JSON.stringify([form, url]);
}

/** Nobody is there to answer it, and the next call is not what it is about. */
function isQuestion(message: JSONRPCMessage): boolean {
  return 'method' in message && 'id' in message && message.method !== 'ping';
}
