/** Loads the code of an author's that is for Node: every function of its activities is one, and tools that ask nothing. */
import type { AuthorActivity } from '../../activities/durable-tools/effects.ts';
import { loadForNode } from '../../tool-bundles/load-for-node.ts';
import type { ToolBundle } from '../../tool-bundles/tool-bundle.ts';
import type { PlainTool } from '../../turn/tool-code.ts';

const longestLoadMs = 30_000;

export interface AuthorCode {
  activities: Map<string, AuthorActivity>;
  tools: Map<string, PlainTool>;
}

export async function loadAuthorCode(
  { hash, node }: Pick<ToolBundle, 'hash' | 'node'>,
  { timeoutMs = longestLoadMs }: { timeoutMs?: number } = {},
): Promise<AuthorCode> {
  if (node === '') return { activities: new Map(), tools: new Map() };
  const loaded = await loadForNode(node, { timeoutMs, name: hash }).catch((error: unknown) => {
    throw new Error(`The code of the tools (bundle ${hash}) cannot be loaded: ${(error as Error).message}.`, {
      cause: error,
    });
  });
  const { activities = {}, tools = [] } = loaded as {
    activities?: Record<string, unknown>;
    tools?: PlainTool[];
  };
  return {
    activities: new Map(
      Object.entries(activities).flatMap(([name, value]) =>
        typeof value === 'function' ? [[name, value as AuthorActivity]] : [],
      ),
    ),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
  };
}
