/** What `interlude dev` warns of in the tools' sources, although they are taken: questions that only fail when they are asked. */
import path from 'node:path';
import { inspectToolSources } from '@interlude-ai/kit/lint/inspect-tools.ts';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';

/** Each call reads the sources again, and warns if the mistakes are other ones. */
export function createToolWarnings({ agents }: Pick<Config, 'agents'>, logger: Logger): () => Promise<void> {
  let last = '';
  return async () => {
    const folders = new Set([...agents.values()].flatMap(({ tools }) => tools?.folder ?? []));
    const found = await Promise.all([...folders].map(mistakesIn));
    const now = found.flat().join('\n');
    if (now !== last && now !== '') logger.warn(`elicit() will refuse these questions:\n${now}`);
    last = now;
  };
}

async function mistakesIn(folder: string): Promise<string[]> {
  try {
    const seen = await inspectToolSources(folder);
    const shown = path.relative('', folder);
    return seen.filter(({ level }) => level === 'error').map(({ text }) => path.join(shown, text));
  } catch {
    // The reload has reported what it could not read.
    return [];
  }
}
