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
  /**
   * What these agents expose now; a worker says it for all agents of its file when it starts. Those of other agents stay: a worker
   * with another agents file says what they expose.
   */
  replace(agents: string[], tools: ExposedTool[]): Promise<void>;
  /** By name; of one name, by agent. */
  list(): Promise<ExposedTool[]>;
}
