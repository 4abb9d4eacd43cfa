/** Opens the folders of tools in TypeScript of all agents. Agents that share a folder share its bundle. */
import path from 'node:path';
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import type { Config } from '../config/config.ts';
import { didYouMean } from '@interlude-ai/core/nearest-spelling.ts';
import type { ApprovalSettings } from '@interlude-ai/core/elicitation/approval.ts';
import { openToolBundle } from './open-tool-bundle.ts';
import type { ToolBundle } from './tool-bundle.ts';
import { ToolFolderError } from '@interlude-ai/tools/bundle/tool-files.ts';

/** The tools of a folder that one agent may use. */
export interface OpenedTools {
  bundle: ToolBundle;
  /** Names of tools. Default: all. */
  allow?: readonly string[] | undefined;
  /** Which calls a person must approve first. Default: none. */
  approval?: ApprovalSettings | undefined;
}

/**
 * Warnings for operators: tools of these agents send users to pages that could never report that they are done. It is only
 * certain when such a tool runs.
 */
export function pagesWithoutSecret(
  { agents }: Pick<Config, 'agents'>,
  opened: ReadonlyMap<string, OpenedTools>,
): string[] {
  return [...opened].flatMap(([name, { bundle, allow }]) => {
    if (agents.get(name)?.tools?.completionSecretEnv !== undefined) return [];
    const offered = bundle.manifest.filter((tool) => allow?.includes(tool.name) ?? true);
    const files = (bundle.pages ?? []).filter((file) => offered.some((tool) => tool.file === file));
    return files.map(
      (file) =>
        `agents.${name}.tools: ${file} sends users to a page, which cannot report that it is done; name a variable in completionSecretEnv`,
    );
  });
}

/** What is wrong is with the name of its agent: all agents that share a folder have its problems. */
export interface AgentBundles {
  /** By the names of agents; agents without such tools are missing. */
  bundles: Map<string, OpenedTools>;
  problems: { agent: string; text: string }[];
}

/** Throws a `ConfigError` that names everything wrong with the folders and with the agents' settings for them. */
export async function openAgentBundles(config: Pick<Config, 'agents'>): Promise<Map<string, OpenedTools>> {
  const { bundles, problems } = await examineAgentBundles(config);
  if (problems.length > 0) throw new ConfigError([...new Set(problems.map(({ text }) => text))]);
  return bundles;
}

export async function examineAgentBundles({ agents }: Pick<Config, 'agents'>): Promise<AgentBundles> {
  const folders = new Map<string, ToolBundle | string[]>();
  const opened: AgentBundles = { bundles: new Map(), problems: [] };
  const { bundles, problems } = opened;
  for (const { name: agent, tools } of agents.values()) {
    if (!tools) continue;
    const { folder, allow, approval } = tools;
    const bundle = folders.get(folder) ?? (await openFolder(folder));
    folders.set(folder, bundle);
    const byName = typeof approval === 'object' ? Object.keys(approval.tools) : [];
    const lacks = Array.isArray(bundle)
      ? bundle
      : [
          ...unknownIn(`agents.${agent}.tools.allow`, allow ?? [], bundle),
          ...unknownIn(`agents.${agent}.tools.approval.tools`, byName, bundle),
        ];
    problems.push(...lacks.map((text) => ({ agent, text })));
    if (!Array.isArray(bundle)) bundles.set(agent, { bundle, allow, approval });
  }
  problems.push(...exposedTwice(bundles));
  return opened;
}

/** Its bundle, or what is wrong with it. */
async function openFolder(folder: string): Promise<ToolBundle | string[]> {
  try {
    return await openToolBundle(folder);
  } catch (error) {
    if (!(error instanceof ToolFolderError)) throw error;
    const shown = path.relative('', folder);
    const at = shown.startsWith('..') ? folder : shown;
    // A problem of a file begins with its name, line and column, which editors and terminals open.
    return error.problems.map((problem) => {
      const [file] = /^\S+\.\w+(?=(?::\d+)*: )/.exec(problem) ?? [];
      return file === undefined ? `${at}: ${problem}` : path.join(at, file) + problem.slice(file.length);
    });
  }
}

/** Clients know a tool only by its name, so two exposed tools must not share one. */
function exposedTwice(opened: ReadonlyMap<string, OpenedTools>): AgentBundles['problems'] {
  const owners = new Map<string, { agent: string; hash: string }>();
  return [...opened].flatMap(([agent, { bundle, allow }]) =>
    bundle.manifest.flatMap(({ name, expose }) => {
      if (expose !== true || !(allow?.includes(name) ?? true)) return [];
      const owner = owners.get(name) ?? { agent, hash: bundle.hash };
      owners.set(name, owner);
      const text = `agents.${agent}.tools: ${name} is exposed, and so is another tool of this name that ${owner.agent} has; rename one`;
      return owner.hash === bundle.hash ? [] : [{ agent, text }];
    }),
  );
}

/** `member`: the member of the agents file with these names. */
function unknownIn(member: string, names: readonly string[], { manifest }: ToolBundle): string[] {
  const known = manifest.map(({ name }) => name);
  return names.flatMap((name) =>
    known.includes(name)
      ? []
      : [
          `${member}: there is no tool "${name}" in the folder${didYouMean(name, known)}; it has ${known.join(', ')}`,
        ],
  );
}
