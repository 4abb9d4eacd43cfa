/** The code of a folder of tools, as workers run it. */
export interface ToolBundleRow {
  hash: string;
  sealed: string;
}

/** Codes of tools, kept for as long as calls that began with them may go on. */
export interface ToolBundles {
  /** Keeps it, or notes that it is in use. */
  keep(bundle: ToolBundleRow): Promise<void>;
  /** Notes that these are in use. */
  touch(hashes: string[]): Promise<void>;
  get(hash: string): Promise<ToolBundleRow | null>;
  /** The newest first. */
  list(): Promise<{ hash: string; usedAt: number }[]>;
  /** Unless somebody has used it since `usedBefore` (epoch milliseconds). */
  drop(hash: string, usedBefore: number): Promise<boolean>;
}
