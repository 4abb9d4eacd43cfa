import type { ConnectionKey } from './connections.ts';

/** A tool as its server listed it (MCP `Tool`, JSON). */
export interface CatalogueTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  annotations?: { readOnlyHint?: boolean; idempotentHint?: boolean; destructiveHint?: boolean };
}

/** What a server offers, as somebody was told. */
export interface ToolList {
  tools: CatalogueTool[];
  /** `user`: the server wants nobody else to be shown it. */
  audience: 'tenant' | 'user';
  /** How long the server says it stays as it is, in milliseconds; null when it does not say. */
  freshMs: number | null;
}

/** As it is kept; `isOwn`: of whoever calls with the account that was asked about. */
export interface KeptToolList extends ToolList {
  isOwn: boolean;
  updatedAt: number;
}

export interface ToolCatalogue {
  /**
   * The own list of whoever calls with this account; else, for they know the server by it, the newest of those in the
   * tenant that may be shown to everybody.
   */
  get(key: ConnectionKey): Promise<KeptToolList | null>;
  put(key: ConnectionKey, list: ToolList): Promise<void>;
}
