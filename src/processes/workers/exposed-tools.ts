/**
 * Which tools in TypeScript clients may call themselves, and for which agent: the first one that has the tool. Throws where
 * two folders expose one name, because clients would not know which one they call. Pure.
 */
import type { ExposedTool } from '../../storage/ports/exposed-tools.ts';
import type { OpenedTools } from '../../tool-bundles/open-agent-bundles.ts';

export function exposedTools(bundles: ReadonlyMap<string, OpenedTools>): ExposedTool[] {
  const exposed = new Map<string, ExposedTool>();
  const from = new Map<string, OpenedTools['bundle']>();
  for (const [agent, { bundle, allow }] of bundles)
    for (const tool of bundle.manifest) {
      const { name, title, description, inputSchema, outputSchema, annotations, expose } = tool;
      if (expose !== true || !(allow?.includes(name) ?? true)) continue;
      const other = exposed.get(name);
      if (other && from.get(name) !== bundle)
        throw new Error(
          `The tools of ${other.agent} and of ${agent} both expose "${name}" to clients. Rename one, or leave it out of tools.allow of one agent.`,
        );
      if (other) continue;
      from.set(name, bundle);
      const { title: _, ...hints } = annotations ?? {};
      exposed.set(name, {
        name,
        agent,
        title,
        description,
        inputSchema,
        ...(outputSchema && { outputSchema }),
        ...(annotations && { annotations: hints }),
      });
    }
  return [...exposed.values()];
}
