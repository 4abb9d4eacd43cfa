/**
 * Sessions of the old era, kept for some seconds after a call: the next one is spared the handshake, which is three
 * requests, and the one that ends a session. Servers of the new era have none, and connections to them belong to nobody in particular.
 *
 * The invariant: a pooled session serves one call at a time, and only one that would have opened its equal: of the same
 * owner, at the same server, with the same credential down to its headers, after the same declaration of capabilities. Whoever calls
 * has just resolved that credential; it is never taken from here. A session comes back when its call has its answer
 * and nothing is open between the two sides, so that what the server says next belongs to the next call.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../../config/config.ts';
import type { Credential } from '../../../credentials/store.ts';
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import { headersOf } from '../../request-headers.ts';
import type { Connection } from '../connection.ts';

/** What a session was opened with. `capabilities`: what its server was told that it may ask. */
export interface Opening {
  server: ServerConfig;
  credential: Credential;
  capabilities: Capabilities;
}

/** Those of one owner: nobody else is served with what a session knows. */
export interface OwnerSessions {
  /** For one call, after which it is to be kept again or closed. */
  take(opening: Opening): Connection | undefined;
  keep(opening: Opening, connection: Connection): void;
  /** What is pooled for this server is not used any more. */
  drop(server: ServerConfig): void;
}

export interface SessionPool {
  of(owner: string): OwnerSessions;
  /** Ends all sessions, and keeps none from now on. */
  close(): void;
}

interface PooledSession {
  /** Whose, and where. */
  place: string;
  account: string;
  capabilities: string;
  connection: Connection;
  timer: NodeJS.Timeout;
}

/** Of one owner at one server: one person makes few calls side by side. */
const maxPerPlace = 4;
const maxSessions = 200;

/** `idleMs`: how long a session waits for the next call, default ten seconds. */
export function createSessionPool({ idleMs = 10_000 } = {}): SessionPool {
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
    of: (owner) => ({
      take(opening) {
        const account = accountKeyOf(opening);
        const capabilities = capabilitiesKeyOf(opening);
        for (const one of at(placeKeyOf(owner, opening.server)).toReversed()) {
          // Another credential has replaced the one it was opened with.
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

/** Nobody is there to answer it, and it is not about the next call. */
function isQuestion(message: JSONRPCMessage): boolean {
  return 'method' in message && 'id' in message && message.method !== 'ping';
}
