/** What a tool is given beside its input. */
import type { ActivitiesOf } from './activities.ts';
import type { Elicit } from './elicit.ts';

interface CallContext {
  /** Null where the caller is a service, which cannot be asked. */
  user: string | null;
  tenant: string;
  toolCallId: string;
  /** Lines of the worker's log, with the tool's name and the call's id. */
  log: Log;
  /** Shows on the stream how far it has come. */
  progress(progress: number | ToolProgress): void;
}

/** Of `run`. */
export interface ToolContext<Module> extends CallContext {
  /** Asks the user, and waits: for minutes, and through restarts of the service. */
  elicit: Elicit;
  /** The functions of `activities.ts`: everything that reaches outside, each with its effect once. */
  activities: ActivitiesOf<Module>;
}

/** Of `execute`. */
export interface ExecuteContext extends CallContext {
  /** Aborts when the turn is cancelled, the time is up, or the worker shuts down: two seconds later the call is given up. */
  signal: AbortSignal;
}

type Say = (message: string, details?: Record<string, unknown>) => void;

export interface Log {
  debug: Say;
  info: Say;
  warn: Say;
  error: Say;
}

export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}
