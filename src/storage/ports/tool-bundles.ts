/** The code of a folder of tools, as workers run it. */
export interface ToolBundleRow {
  /** Of the code, and its key here. */
  hash: string;
  /** The code, encrypted. */
  sealed: string;
}

/** Bundled tools, kept for as long as calls that began with them may go on. */
export interface ToolBundles {
  /** Keeps it, or notes that it is in use. */
  keep(bundle: ToolBundleRow): Promise<void>;
  /** Notes that these are in use. */
  touch(hashes: string[]): Promise<void>;
  get(hash: string): Promise<ToolBundleRow | null>;
  /** The newest first; `usedAt` in epoch milliseconds. */
  list(): Promise<{ hash: string; usedAt: number }[]>;
  /** Deletes it, unless somebody has used it since `usedBefore` (epoch milliseconds); false then. */
  drop(hash: string, usedBefore: number): Promise<boolean>;
}
