/** Which tools in TypeScript each agent is offered, and with which code a call of one runs. */
import type { OfferedTools } from '../../activities/durable-tools/offered-tools.ts';
import { needsApproval, policyFor } from '../../elicitation/approval.ts';
import type { OpenedTools } from '../../tool-bundles/open-agent-bundles.ts';

export function offerTools(bundles: ReadonlyMap<string, OpenedTools>): OfferedTools {
  const offered = new Map(
    [...bundles].map(([agent, { bundle, allow, approval }]) => [
      agent,
      bundle.manifest
        .filter(({ name }) => allow?.includes(name) ?? true)
        .map(({ name, description, inputSchema, annotations, executeMs }) => ({
          modelName: name,
          bundle: bundle.hash,
          description,
          inputSchema,
          ...(needsApproval(policyFor(approval, name), annotations) && { approval: true as const }),
          ...(executeMs !== undefined && { executeMs }),
        })),
    ]),
  );
  return (agent) => offered.get(agent) ?? [];
}
