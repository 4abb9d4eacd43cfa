/** The tools in TypeScript that agents are offered: each folder bundled once, whichever agents share it. */
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import { didYouMean } from '../config/nearest-spelling.ts';
import { openToolBundle } from './open-tool-bundle.ts';
import type { ToolBundle, ToolManifest } from './tool-bundle.ts';
import { ToolFolderError } from './tool-folder-error.ts';

/** What one agent is offered. */
export interface Toolset {
  /** The hash of the bundle that runs them. */
  bundle: string;
  tools: ToolManifest[];
}

/** By the names of agents; one that has no such tools is not in it. */
export type Toolsets = ReadonlyMap<string, Toolset>;

/** Throws a `ConfigError` that names everything wrong with the folders, and with what agents are allowed of them. */
export async function openToolsets({
  agents,
}: Pick<Config, 'agents'>): Promise<{ bundles: ToolBundle[]; toolsets: Toolsets }> {
  const folders = new Set([...agents.values()].flatMap(({ tools }) => tools?.folder ?? []));
  const problems: string[] = [];
  const bundles = new Map<string, ToolBundle>();
  for (const folder of folders) {
    try {
      bundles.set(folder, await openToolBundle(folder));
    } catch (error) {
      if (!(error instanceof ToolFolderError)) throw error;
      problems.push(...error.problems.map((problem) => `${folder}: ${problem}`));
    }
  }
  const toolsets = new Map<string, Toolset>();
  for (const { name, tools } of agents.values()) {
    const bundle = tools && bundles.get(tools.folder);
    if (!bundle) continue;
    problems.push(...unknownIn(name, tools.allow ?? [], bundle));
    const { allow } = tools;
    const offered = bundle.manifest.filter((tool) => allow === undefined || allow.includes(tool.name));
    toolsets.set(name, { bundle: bundle.hash, tools: offered });
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { bundles: [...new Map([...bundles.values()].map((one) => [one.hash, one])).values()], toolsets };
}

function unknownIn(agent: string, allow: readonly string[], { manifest }: ToolBundle): string[] {
  const known = manifest.map(({ name }) => name);
  return allow.flatMap((name) =>
    known.includes(name)
      ? []
      : [
          `agents.${agent}.tools.allow: there is no tool "${name}" in the folder${didYouMean(name, known)}; it has ${known.join(', ')}`,
        ],
  );
}
