/** Reads the agents file of a running process again. With a mistake in it, or in a folder of tools, the process goes on as before. */
import { stripVTControlCharacters } from 'node:util';
import type { Logger } from 'pino';
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import { checkRunAs } from '@interlude-ai/core/mcp/stdio/process.ts';
import { loadNangoSdk } from '../../credentials/nango/client.ts';
import type { Config } from '../config/config.ts';
import { openAgentBundles } from '../tool-bundles/open-agent-bundles.ts';
import type { OpenedTools } from '../tool-bundles/open-agent-bundles.ts';
import { readConfig } from './read-config.ts';
import type { RunningWorker } from './start-worker.ts';

interface AgentsReload {
  /** One at a time; the last call has read what was there when it was made. */
  reload(): Promise<void>;
  /** Why the last changes were refused; empty if they were applied. */
  problems(): readonly string[];
}

interface Parts {
  /** Changed in place. */
  config: Config;
  logger: Logger;
  /** Of processes with a worker. */
  tools?: {
    offered: ReadonlyMap<string, OpenedTools>;
    offer: RunningWorker['offer'];
  };
}

export function createReload({ config, logger, tools }: Parts): AgentsReload {
  let problems: readonly string[] = [];
  let offered = tools?.offered;
  let reading: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function read(): Promise<void> {
    const startedAt = performance.now();
    try {
      const changed = await take();
      if (changed.length > 0 || problems.length > 0)
        logger.info(
          { durationMs: Math.round(performance.now() - startedAt) },
          changed.length > 0
            ? `changes applied: ${changed.join(', ')}`
            : 'mistakes corrected; nothing else has changed',
        );
      problems = [];
    } catch (error) {
      problems = problemsOf(error);
      logger.error(['changes not applied, the last good version stays active:', ...problems].join('\n'));
    }
  }

  /** What has changed, by name. */
  async function take(): Promise<string[]> {
    const given = readConfig();
    checkRunAs(given.servers.values());
    if ([...given.servers.values()].some(({ store }) => store === 'nango')) await loadNangoSdk();
    const opened = tools && (await openAgentBundles(given));
    const changed = [
      ...changedNames('agent', config.agents, given.agents),
      ...changedNames('server', config.servers, given.servers),
      ...(isSame(config.providers, given.providers) ? [] : ['providers']),
      ...(opened ? changedTools(offered, opened) : []),
    ];
    if (changed.length === 0) return changed;
    if (tools && opened) await tools.offer(opened, [...given.agents.keys()]);
    offered = opened;
    takeAgentsFile(config, given);
    return changed;
  }

  function reload(): Promise<void> {
    if (!reading) {
      reading = read().finally(() => (reading = undefined));
      return reading;
    }
    next ??= reading.then(() => {
      next = undefined;
      return reload();
    });
    return next;
  }

  return { problems: () => problems, reload };
}

function changedNames<Entry>(
  kind: string,
  before: ReadonlyMap<string, Entry>,
  after: ReadonlyMap<string, Entry>,
): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => !isSame(before.get(name), after.get(name)))
    .map((name) => `${kind} ${name}${after.has(name) ? '' : ' (removed)'}`);
}

function changedTools(
  before: ReadonlyMap<string, OpenedTools> | undefined,
  after: ReadonlyMap<string, OpenedTools>,
): string[] {
  return [...after].flatMap(([agent, { bundle }]) =>
    before?.get(agent)?.bundle.hash === bundle.hash ? [] : [`tools of ${agent}`],
  );
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  return [stripVTControlCharacters(error instanceof Error ? error.message : String(error))];
}

type OfAgentsFile = Pick<Config, 'agents' | 'servers' | 'providers'>;

/** Changes the configuration in place, because the process passes these same objects around. */
function takeAgentsFile(config: OfAgentsFile, next: OfAgentsFile): void {
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

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
