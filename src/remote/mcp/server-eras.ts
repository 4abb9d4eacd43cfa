/**
 * The protocol era in which a server is called. One that supports both is called in the era in which it can ask the user.
 * In this order:
 *
 * 1. what the agents file says;
 * 2. what a failed call has shown for its tool, or else for another tool of the server (stored, shared by all processes);
 * 3. the old era, if the server keeps sessions there or is a process: most servers that support both still push their
 *   questions, and most of those that return them are called back in the old era by their SDK. Otherwise the new era.
 */
import { createHash } from 'node:crypto';
import type { Client, DiscoverResult, PriorDiscovery } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { LearnedEra } from '../../storage/schema/session-tables.ts';
import type { LearnedEras } from '../../storage/tables/tool-catalogue.ts';

export type Era = LearnedEra['era'];

/** What is known of one server. Only the first contact asks for it. */
interface KnownEras {
  /** Its answer to `server/discover`; null if it does not support the new era. */
  modern?: DiscoverResult | null;
  /** Null if it does not support the old era. */
  legacy?: { canPush: boolean } | null;
  expiresAt: number;
}

/** Servers can be upgraded at any time. */
const lifetimeMs = 10 * 60_000;
/** How long until this process sees what another one has learned. */
const learnedMs = 10_000;

export class ServerEras {
  readonly #known = new Map<string, KnownEras>();
  readonly #stored: LearnedEras | undefined;
  #learned: LearnedEra[] = [];
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(stored?: LearnedEras) {
    this.#stored = stored;
  }

  known(server: ServerConfig): Omit<KnownEras, 'expiresAt'> {
    const known = this.#known.get(keyOf(server));
    return known && known.expiresAt > Date.now() ? known : {};
  }

  /** Adds to what is known. All of it expires together. */
  found(server: ServerConfig, found: Omit<KnownEras, 'expiresAt'>): void {
    const expiresAt = this.#known.get(keyOf(server))?.expiresAt ?? 0;
    const isExpired = expiresAt <= Date.now();
    this.#known.set(keyOf(server), {
      ...this.known(server),
      ...found,
      expiresAt: isExpired ? Date.now() + lifetimeMs : expiresAt,
    });
  }

  changed(server: ServerConfig): void {
    this.#known.delete(keyOf(server));
  }

  /** The era for this tool, as far as it is known before the server is contacted. */
  async wanted(server: ServerConfig, tool?: string): Promise<Era | undefined> {
    return fixedEra(server) ?? (await this.#learnedOf(server, tool))?.era;
  }

  async learn(server: ServerConfig, tool: string, era: Era, client: Client): Promise<void> {
    const learned = { server: keyOf(server), tool, era, identity: identityOf(client) };
    const others = this.#learned.filter((one) => one.server !== learned.server || one.tool !== tool);
    this.#learned = [learned, ...others];
    await this.#stored?.learn(learned).catch(() => undefined);
    // A read that is under way may not contain it.
    this.#readAt = -Infinity;
  }

  /** Whether what was learned is about another version of the server. If so, it is forgotten. */
  async isOutdated(server: ServerConfig, tool: string | undefined, client: Client): Promise<boolean> {
    const learned = await this.#learnedOf(server, tool);
    if (!learned || learned.identity === identityOf(client)) return false;
    this.#learned = this.#learned.filter((one) => one.server !== learned.server);
    await this.#stored?.forget(learned.server).catch(() => undefined);
    return true;
  }

  async #learnedOf(server: ServerConfig, tool?: string): Promise<LearnedEra | undefined> {
    await this.#readLearned();
    const key = keyOf(server);
    const ofServer = this.#learned.filter((one) => one.server === key);
    return ofServer.find((one) => one.tool === tool) ?? ofServer[0];
  }

  /** If the database fails, what this process knows is used. */
  async #readLearned(): Promise<void> {
    if (!this.#stored) return;
    if (performance.now() - this.#readAt >= learnedMs) {
      this.#readAt = performance.now();
      this.#reading = this.#stored.list().then(
        (learned) => void (this.#learned = learned),
        () => undefined,
      );
    }
    await this.#reading;
  }
}

/** The era in the agents file; undefined for `auto`. */
export function fixedEra({ era }: Pick<ServerConfig, 'era'>): Era | undefined {
  if (era === '2026-07-28') return 'modern';
  return era === '2025-11-25' ? 'legacy' : undefined;
}

/** How to connect without negotiating; undefined when the era is not known yet. */
export function discoveryFor(
  { modern, legacy }: Omit<KnownEras, 'expiresAt'>,
  wanted: Era | undefined,
): PriorDiscovery | undefined {
  if (wanted === 'modern' && modern) return { kind: 'modern', discover: modern };
  if (legacy && (wanted === 'legacy' || legacy.canPush || modern === null)) return { kind: 'legacy' };
  return modern && legacy !== undefined ? { kind: 'modern', discover: modern } : undefined;
}

function identityOf(client: Client): string {
  const { name = '', version = '' } = client.getServerVersion() ?? {};
  return JSON.stringify([name, version]);
}

/** A digest, because arguments may be secrets. */
function keyOf({ url, process }: ServerConfig): string {
  const key = process ? JSON.stringify([process.command, process.args, process.cwd]) : url;
  return createHash('sha256').update(key).digest('base64url');
}
