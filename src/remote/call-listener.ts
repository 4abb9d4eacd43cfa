/** What happens to a call beside its answer, and needs no reply. */

export interface CallListener {
  /** A request of the call's is on the wire; called for each one. */
  onSent?: () => void;
  /** For each notice of how far the call has come, however often the server sends one. */
  onProgress?: (progress: CallProgress) => void;
  /** The server's list of tools has changed. */
  onToolsChanged?: () => void;
  /** The process of the call has ended, for a server that is one. */
  onProcessExit?: (exit: ProcessExit) => void;
}

export interface CallProgress {
  progress: number;
  /** What `progress` comes to in the end, if the server knows. */
  total?: number;
  message?: string;
}

export interface ProcessExit {
  exitCode: number | null;
  signal: string | null;
  /** How much it wrote to its standard error, and the end of it: whatever its author wanted to say, secrets included. */
  stderrBytes: number;
  stderrEnd: string;
  /** It ended by itself, or had to be ended without having said anything that we understand. */
  isFailure: boolean;
}
