/** Runs the author's definitions once, where nothing of the service can be reached, to read what the tools say of themselves. */
import { createContext, Script } from 'node:vm';
import path from 'node:path';
import type { DescribedTools, ToolDescription } from '../tools/describe-tools.ts';
import { bundleTools } from './bundle-code.ts';
import type { ToolFiles } from './tool-files.ts';
import { ToolFolderError } from './tool-folder-error.ts';

const longestLoadMs = 5_000;
// Compiled in the package, TypeScript elsewhere.
const describe = path.resolve(
  import.meta.dirname,
  `../tools/describe-tools${path.extname(import.meta.filename)}`,
);

export interface Manifest {
  tools: ToolDescription[];
  /** Files that send users to pages, as far as can be seen. */
  pages: string[];
}

/** `activities`: names of what the file of activities exports, if there is one. */
export async function readManifest(files: ToolFiles, activities: string[] | null): Promise<Manifest> {
  const modules = files.modules.map(
    (file) => `{ file: ${quoted(file)}, load: () => import(${quoted(path.join(files.folder, file))}) }`,
  );
  const code = `import { describeTools } from ${quoted(describe)};
export const described = describeTools([${modules.join(', ')}], ${quoted(activities)}).then(JSON.stringify);`;
  const bundled = await bundleTools({ files, code }, 'iife');
  const { tools, problems } = JSON.parse(await run(bundled.code, files.folder)) as DescribedTools;
  if (problems.length > 0) throw new ToolFolderError(files.folder, problems);
  return { tools, pages: bundled.pages };
}

/** With what workflows have, and no more: a definition that needs more would fail there. */
async function run(code: string, folder: string): Promise<string> {
  const context = createContext({ URL, URLSearchParams, TextEncoder, TextDecoder, AbortController });
  try {
    const script = new Script(`${code};authored.described`, { filename: 'tools' });
    return await (script.runInContext(context, { timeout: longestLoadMs }) as Promise<string>);
  } catch (error) {
    throw new ToolFolderError(folder, [`they cannot be loaded: ${(error as Error).message}`]);
  }
}

function quoted(value: unknown): string {
  return JSON.stringify(value);
}
