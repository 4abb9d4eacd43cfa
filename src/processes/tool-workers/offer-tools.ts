/** Which tools in TypeScript each agent is offered, and with which code a call of one runs. */
import type { OfferedTools } from '../../activities/durable-tools/offered-tools.ts';
import type { OpenedTools } from '../../tool-bundles/open-agent-bundles.ts';

export function offerTools(bundles: ReadonlyMap<string, OpenedTools>): OfferedTools {
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
