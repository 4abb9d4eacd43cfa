/** The author's tools and what runs them, as a module without Temporal's SDK: see temporal/join-sdk.ts. */
import path from 'node:path';
import { bundleTools } from './bundle-code.ts';
import type { Code } from './bundle-code.ts';
import type { ToolFiles } from './tool-files.ts';

const source = path.resolve(import.meta.dirname, '..');

export function bundleToolWorkflows(files: ToolFiles): Promise<Code> {
  return bundleTools({ files, code: entryOf(files) }, 'esm');
}

function entryOf({ folder, modules }: ToolFiles): string {
  const ours = (file: string) => JSON.stringify(path.join(source, file));
  const imports = modules.map(
    (file, index) => `import * as module${index} from ${JSON.stringify(path.join(folder, file))};`,
  );
  const listed = modules.map((file, index) => `{ file: ${JSON.stringify(file)}, exports: module${index} }`);
  return `${imports.join('\n')}
import { createDurableTool } from ${ours('workflows/durable-tool/durable-tool.ts')};
import { toolsOf } from ${ours('tools/find-tools.ts')};
import { titleOf } from ${ours('tools/describe-tools.ts')};
import { toRequestedSchema } from ${ours('tools/requested-schema.ts')};
export { interceptors } from ${ours('workflows/durable-tool/task-start.ts')};
const definitions = toolsOf([${listed.join(', ')}]).map(({ definition }) => ({
  ...definition,
  title: titleOf(definition.name, definition.title ?? definition.annotations?.title),
}));
export const durableTool = createDurableTool(definitions, toRequestedSchema);
`;
}
