/** In place of a build id: Temporal's own routing decides which version a turn starts with. */
export const routedByTemporal = '';

export interface DeployedVersion {
  buildId: string;
  /** Epoch milliseconds: when it last became current. */
  since: number;
}

/** `oldest`, `newest`: the contracts that it offers to workflow code (see workflows/contract.ts). */
export interface LivingProcess {
  id: string;
  oldest: number;
  newest: number;
  deployment: string;
  kind: 'api' | 'worker';
}

/** Which version of the workflow code new turns of a deployment start with, and which processes could run them. */
export interface Versions {
  /** The version that new turns start with; null before the first worker. */
  current(deployment: string): Promise<string | null>;
  /** Everything that was ever current, the current one first. */
  list(deployment: string): Promise<DeployedVersion[]>;
  /** Makes a version current, once: false when it has been current before, and another version may be now. */
  advance(deployment: string, buildId: string): Promise<boolean>;
  /** Makes a version current, at an operator's command or where there is only one worker. */
  use(deployment: string, buildId: string): Promise<void>;
  /** Turns that have not ended, by the version they started with; null: by a release without versions. */
  openTurns(): Promise<{ buildId: string | null; turns: number }[]>;
  /** Says that the process is alive for another `leaseMs`, by the database's clock. */
  renewLease(process: LivingProcess, leaseMs: number): Promise<void>;
  endLease(id: string): Promise<void>;
  /** Those whose lease has not run out. */
  living(deployment: string): Promise<LivingProcess[]>;
}
