/** The protocol era in which an MCP server can ask, as a call that failed in the other one has shown. */
export interface LearnedEra {
  /** A hash of the server's address or command. */
  server: string;
  tool: string;
  era: 'modern' | 'legacy';
  /** What the server called itself then, its version included: another one forgets what was learned. */
  identity: string;
}

export interface LearnedEras {
  /** The latest first. */
  list(): Promise<LearnedEra[]>;
  /** Replaces what was learned with this tool before. */
  learn(learned: LearnedEra): Promise<void>;
  forget(server: string): Promise<void>;
}
