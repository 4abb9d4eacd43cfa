/** Takes a changed agents file into the configuration of a running process, which passes these same objects around. */
import type { Config } from './config.ts';

type OfAgentsFile = Pick<Config, 'agents' | 'servers' | 'providers'>;

export function takeAgentsFile(config: OfAgentsFile, next: OfAgentsFile): void {
  replaceEntries(config.agents, next.agents);
  replaceEntries(config.servers, next.servers);
  for (const name of Object.keys(config.providers) as (keyof Config['providers'])[])
    delete config.providers[name];
  Object.assign(config.providers, next.providers);
}

/** What does not change keeps its identity. */
function replaceEntries<Entry>(current: Map<string, Entry>, next: ReadonlyMap<string, Entry>): void {
  const before = new Map(current);
  current.clear();
  for (const [name, entry] of next) {
    const known = before.get(name);
    current.set(name, isSame(known, entry) ? (known as Entry) : entry);
  }
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
