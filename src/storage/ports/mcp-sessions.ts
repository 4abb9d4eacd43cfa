/** Sessions of MCP clients up to 2025-11-25: any process serves any of them. Nothing here was written by a person. */
export interface McpSessions {
  /** Of an owner with too many, those that were used least recently end. */
  create(session: McpSession): Promise<void>;
  /** Null when there is none, or it has expired or was ended. Puts its end off to `expiresAt`. */
  find(id: string, expiresAt: number): Promise<McpSession | null>;
  end(id: string): Promise<void>;
  /** Replaces an earlier call under the same id. What is over in this session, and was kept for a day, is forgotten. */
  addCall(sessionId: string, call: McpCall): Promise<void>;
  findCall(sessionId: string, requestId: string): Promise<McpCall | null>;
  /** Takes the place of an earlier one to the same question. */
  putReply(sessionId: string, reply: Omit<McpReply, 'times'>): Promise<void>;
  replies(sessionId: string, elicitationIds: string[]): Promise<McpReply[]>;
  /** Calls `heard` whenever there may be another reply, put by any process, until the function that it returns is called. */
  onReply(sessionId: string, heard: () => void): () => void;
}

export interface McpSession {
  id: string;
  owner: string;
  version: string;
  shows: { url: boolean; form: boolean };
  expiresAt: number;
}

export interface McpCall {
  requestId: string;
  /** The name of what was called. */
  tool: string;
  conversation: string;
  turnId: string;
  /** Under which its client wants to be told of progress. */
  progressToken: string | number | null;
  /** The same for the same call; clients use ids again. */
  idempotencyKey: string | null;
}

/** What a client said to a question that stays open. */
export interface McpReply {
  elicitationId: string;
  /** `misfit`: to be asked again. `awaited`: answered, a page or an account is to follow. `undelivered`: cannot be asked. */
  kind: 'misfit' | 'awaited' | 'undelivered';
  /** Of a misfit: which fields, and what they take; never what was entered. */
  reasons: string | null;
  times: number;
}
