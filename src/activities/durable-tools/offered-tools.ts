/** Tools in TypeScript as a model is offered them. */
export interface DurableTool {
  modelName: string;
  /** The hash of the code that a call is to run with. */
  bundle: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** A person has to approve each call, unless they have said otherwise. */
  approval?: true;
  /** As in `DurableCall`. */
  executeMs?: number;
}

/** The tools of an agent, by its name. */
export type OfferedTools = (agent: string) => DurableTool[];
