/** Which tools in TypeScript each agent is offered, and with which code a call of one runs. */
import type { OfferedTools } from '../../activities/durable-tools/offered-tools.ts';
import type { ToolBundle } from '../../tool-bundles/tool-bundle.ts';

/** The tools of a folder that an agent may use. */
export interface AgentBundle {
  bundle: ToolBundle;
  /** By name; absent: all of them. */
  allow?: readonly string[] | undefined;
}

export function offerTools(bundles: ReadonlyMap<string, AgentBundle>): OfferedTools {
  const offered = new Map(
    [...bundles].map(([agent, { bundle, allow }]) => [
      agent,
      bundle.manifest
        .filter(({ name }) => allow?.includes(name) ?? true)
        .map(({ name, description, inputSchema }) => ({
          modelName: name,
          bundle: bundle.hash,
          description,
          inputSchema,
        })),
    ]),
  );
  return (agent) => offered.get(agent) ?? [];
}
