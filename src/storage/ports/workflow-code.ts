/** `turns`: of turns and deliveries, one for each version of this program; `tools`: of a folder of tools in TypeScript. */
export type CodeKind = 'turns' | 'tools';

export interface KeptCode {
  /** The build id of code of turns; the hash of a bundle of tools. */
  id: string;
  kind: CodeKind;
  /** The contract that it needs: see workflows/contract.ts. */
  needs: number;
}

/** Workflow code, kept for as long as workflows that began with it may go on. */
export interface WorkflowCode {
  /** Keeps it, or notes that it is in use. `sealed`: the code, encrypted. */
  keep(code: KeptCode & { sealed: string }): Promise<void>;
  /** Notes that these are in use. */
  touch(ids: string[]): Promise<void>;
  get(id: string): Promise<(KeptCode & { sealed: string }) | null>;
  /** The newest first; `usedAt` in epoch milliseconds. */
  list(kind: CodeKind): Promise<(KeptCode & { usedAt: number })[]>;
  /** Deletes it, unless it was used since `usedBefore` (epoch milliseconds); false then. */
  drop(id: string, usedBefore: number): Promise<boolean>;
}
