/** What is made of a folder of tools: everything that running them takes, and nothing of the folder itself. */
import type { ToolAnnotations } from '../tools/define-tool.ts';

export interface ToolBundle {
  /** The same for the same code on every machine and in every folder, and another one for other code. */
  hash: string;
  /** A Temporal workflow bundle, whose only workflow is `durableTool`. */
  workflows: string;
  /** A module for Node that is complete in itself: every function it exports is an activity. Empty where there are none. */
  activities: string;
  manifest: ToolManifest[];
}

/** What a tool says of itself, as the model and people are told. */
export interface ToolManifest {
  name: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: ToolAnnotations;
  /** The file it is defined in, by its name in the folder. */
  file: string;
}
