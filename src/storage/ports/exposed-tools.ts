/** Tools in TypeScript that clients may call without a model between. Workers know them, and every process of the API asks here. */
export interface ExposedTool {
  name: string;
  /** The agent that a call of it is made for: its approvals count, and its conversations hold it. */
  agent: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: {
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
}

export interface ExposedTools {
  /** All there are: those of the worker that started last. */
  replace(tools: ExposedTool[]): Promise<void>;
  /** By name. */
  list(): Promise<ExposedTool[]>;
}
