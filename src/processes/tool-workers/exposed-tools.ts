/** Which tools in TypeScript clients may call themselves, and for which agent: the first one that has the tool. Pure. */
import type { ExposedTool } from '../../storage/ports/exposed-tools.ts';
import type { OpenedTools } from '../../tool-bundles/open-agent-bundles.ts';

export function exposedTools(bundles: ReadonlyMap<string, OpenedTools>): ExposedTool[] {
  const exposed = new Map<string, ExposedTool>();
  for (const [agent, { bundle, allow }] of bundles)
    for (const tool of bundle.manifest) {
      const { name, title, description, inputSchema, outputSchema, annotations, expose } = tool;
      if (expose !== true || exposed.has(name) || !(allow?.includes(name) ?? true)) continue;
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
