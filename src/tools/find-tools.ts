/** The tools among what modules export, in the order of files and names, so that it is the same on every machine. */
import { toolMark } from './define-tool.ts';

export interface ToolModule {
  file: string;
  exports: Record<string, unknown>;
}

export interface FoundTool {
  file: string;
  exported: string;
  definition: Record<string, unknown>;
}

/** One that is exported twice is one tool. */
export function toolsOf(modules: readonly ToolModule[]): FoundTool[] {
  const seen = new Set<unknown>();
  return modules.flatMap(({ file, exports }) =>
    Object.keys(exports)
      .toSorted()
      .flatMap((exported) => {
        const value = exports[exported];
        if (typeof value !== 'object' || value === null || !(toolMark in value) || seen.has(value)) return [];
        seen.add(value);
        return [{ file, exported, definition: value as Record<string, unknown> }];
      }),
  );
}
