/**
 * Sessions of the old era, kept for some seconds after a call. This spares the next call the handshake, which is three
 * requests, and the request that ends a session. The new era has no sessions.
 *
 * The invariant: a pooled session serves one call at a time, and only one that would have opened an equal session: same
 * user, same server, same credential including its headers, same capabilities. The caller has just resolved that
 * credential; it is never taken from the pool. A session is returned once its call has its answer and nothing is open
 * between the two sides, so that all further messages belong to the next call.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../../platform/config/config.ts';
import type { Credential } from '../../../credentials/credential-store.ts';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { headersOf } from '../../request-account.ts';
import type { Connection } from '../connection.ts';

/** What a session was opened with. `capabilities`: as declared to the server. */
interface Opening {
  server: ServerConfig;
  credential: Credential;
  capabilities: Capabilities;
}

/** The sessions of one user, which serve no other user. */
export interface OwnerSessions {
  /** For one call. Afterwards it has to be passed to `keep`, or closed. */
  take(opening: Opening): Connection | undefined;
  keep(opening: Opening, connection: Connection): void;
  /** Closes the pooled sessions of this server. */
  drop(server: ServerConfig): void;
}

interface PooledSession {
  /** User and server. */
  place: string;
  account: string;
  capabilities: string;
  connection: Connection;
  timer: NodeJS.Timeout;
}

/** Of one user at one server, who makes few calls at the same time. */
const maxPerPlace = 4;
const maxSessions = 200;

/** `idleMs`: how long a session is kept, default ten seconds. */
export function createSessionPool({ idleMs = 10_000 } = {}) {
  /** Oldest first. */
  const kept = new Set<PooledSession>();
  let isClosed = false;

  function remove(one: PooledSession): Connection {
    clearTimeout(one.timer);
    kept.delete(one);
    return one.connection;
  }

  function end(one: PooledSession): void {
    remove(one).close();
  }

  function at(place: string): PooledSession[] {
    return [...kept].filter((one) => one.place === place);
  }

  function add(what: Omit<PooledSession, 'timer'>): void {
    const one: PooledSession = { ...what, timer: setTimeout(() => end(one), idleMs).unref() };
    kept.add(one);
    one.connection.idle((message) => {
      if (kept.has(one) && isQuestion(message)) end(one);
    });
    const here = at(one.place);
    const [excess] = here.length > maxPerPlace ? here : [...kept].slice(0, kept.size - maxSessions);
    if (excess) end(excess);
  }

  return {
    of: (owner: string): OwnerSessions => ({
      take(opening) {
        const account = accountKeyOf(opening);
        const capabilities = capabilitiesKeyOf(opening);
        for (const one of at(placeKeyOf(owner, opening.server)).toReversed()) {
          // The credential has changed since.
          if (one.account !== account || !one.connection.isReusable()) end(one);
          else if (one.capabilities === capabilities) return remove(one);
        }
        return undefined;
      },
      keep(opening, connection) {
        if (isClosed || !connection.isReusable()) return connection.close();
        const place = placeKeyOf(owner, opening.server);
        add({ place, account: accountKeyOf(opening), capabilities: capabilitiesKeyOf(opening), connection });
      },
      drop(server) {
        for (const one of at(placeKeyOf(owner, server))) end(one);
      },
    }),
    close() {
      isClosed = true;
      for (const one of kept) end(one);
    },
  };
}

function placeKeyOf(owner: string, { name, url }: ServerConfig): string {
  return JSON.stringify([owner, name, url]);
}

function accountKeyOf({ server, credential }: Opening): string {
  const { version, tokenId } = credential;
  return JSON.stringify([version, tokenId ?? null, ...headersOf(server, credential)]);
}

function capabilitiesKeyOf({ capabilities: { form, url } }: Opening): string {
  return JSON.stringify([form, url]);
}

/** Between two calls, a question cannot be answered. */
function isQuestion(message: JSONRPCMessage): boolean {
  return 'method' in message && 'id' in message && message.method !== 'ping';
}
