/**
 * Connects to an MCP server in the era it speaks. Nothing that goes wrong here can have run a tool: no call was sent yet.
 */
import type { ProcessExit } from '../call-listener.ts';
import { unsendableHeader } from '../request-headers.ts';
import { nameOf } from '../server-name.ts';
import type { Refused, Unreachable } from '../tool-call.ts';
import { openConnection } from './connection.ts';
import type { Connection, Target } from './connection.ts';
import type { ExchangeLog } from './exchange.ts';
import { failureMessage } from './failure-message.ts';
import { ProcessFailure } from './stdio/process.ts';

export async function connect(target: Target): Promise<Connection | Refused | Unreachable> {
  const { server, credential, deadline, eras } = target;
  const unsendable = unsendableHeader(server, credential);
  if (unsendable !== undefined) {
    const remedy = 'The operator should check headers and headersEnv in the agents file.';
    const message = `${nameOf(server)} was not called: the value of its header "${unsendable}" cannot be sent. ${remedy}`;
    return { kind: 'unreachable', message };
  }
  // Only servers of the old era have sessions.
  const cached = target.session ? undefined : eras.get(server);
  const report = deferExitReport(target);
  const first = await openConnection({ ...target, onProcessExit: report.onProcessExit }, cached);
  const isOver = first.connection !== undefined || deadline.end !== undefined;
  const endedByProbe = !isOver && !cached && server.process !== undefined && isEndedByProbe(first.exchanges);
  if (!endedByProbe) report.release();
  if (first.connection) return first.connection;
  if (deadline.end) return connectFailureOf(target, first.exchanges);

  const last = first.exchanges.last();
  // The server no longer speaks what it spoke.
  if (cached && eraMayHaveChanged(last?.status)) {
    eras.delete(server);
    return connect(target);
  }
  // Some old servers fail on a probe they do not know.
  if (!cached && (last?.status ?? 0) >= 500 && last?.method === 'server/discover') {
    const old = await openConnection(target, { kind: 'legacy' });
    return old.connection ?? connectFailureOf(target, old.exchanges);
  }
  // Some old servers end when they are asked something before they were greeted.
  if (endedByProbe) {
    const old = await openConnection(target, { kind: 'legacy' });
    if (old.connection) eras.set(server, { kind: 'legacy' });
    report.release({ isExcused: old.connection !== undefined });
    return old.connection ?? connectFailureOf(target, old.exchanges);
  }
  return connectFailureOf(target, first.exchanges);
}

/** Whether an answer can mean that the server now speaks another era than the cached one. */
export function eraMayHaveChanged(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
}

export function connectFailureOf(
  { server, deadline }: Pick<Target, 'server' | 'deadline'>,
  exchanges: ExchangeLog,
): Refused | Unreachable {
  const exchange = exchanges.last();
  if ((exchange?.status === 401 || exchange?.status === 403) && !deadline.end) {
    return { kind: 'refused', status: exchange.status, challenge: exchange.challenge };
  }
  return { kind: 'unreachable', message: failureMessage(server, exchange, deadline.end) };
}

/** Whether the exit of a process was a failure shows when it was greeted in another way: until then it is not reported. */
function deferExitReport({ onProcessExit }: Pick<Target, 'onProcessExit'>) {
  let deferred: ProcessExit | undefined;
  let isExcused: boolean | undefined;
  const pass = () => {
    if (deferred && isExcused !== undefined)
      onProcessExit?.({ ...deferred, isFailure: deferred.isFailure && !isExcused });
  };
  return {
    onProcessExit(exit: ProcessExit) {
      deferred = exit;
      pass();
    },
    release(given = { isExcused: false }) {
      ({ isExcused } = given);
      pass();
    },
  };
}

function isEndedByProbe(exchanges: ExchangeLog): boolean {
  const last = exchanges.last();
  return last?.method === 'server/discover' && last.failure instanceof ProcessFailure;
}
