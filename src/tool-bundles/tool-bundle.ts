/** What is made of a folder of tools: everything that running them takes, and nothing of the folder itself. */
import type { ToolDescription } from '../tools/describe-tools.ts';

export interface ToolBundle {
  /** The same for the same code on every machine and in every folder, and another one for other code. */
  hash: string;
  /** A module without Temporal's SDK that exports the workflow `durableTool`, and `interceptors`. Empty where no tool asks. */
  workflows: string;
  /** A module for Node, complete in itself: it exports `activities`, and `tools` that ask nothing. Empty where there are none. */
  node: string;
  manifest: ToolDescription[];
  /** Files that send users to pages, as far as is known. */
  pages?: readonly string[];
}
