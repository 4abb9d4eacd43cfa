/**
 * Connects to an MCP server in the right era. No call has been sent yet, so no failure here can mean that a tool has run.
 */
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ProcessExit } from '@interlude-ai/core/mcp/stdio/process.ts';
import type { Refused, Unreachable } from '../remote-servers.ts';
import type { Deadline } from '../deadline.ts';
import { refusedAccount, unsendableHeader } from '../request-account.ts';
import { nameOf } from '../server-name.ts';
import { canAsk, openConnection, silentProbeMs } from './connection.ts';
import type { Connection, OpenResult, Target } from './connection.ts';
import type { Exchange, ExchangeLog } from '@interlude-ai/core/mcp/tracked-request.ts';
import type { ServerTrouble } from '../../turn/server-trouble.ts';
import { outcomeWith } from '../network-failure.ts';
import { troubleOf } from './server-trouble.ts';
import { discoveryFor, fixedEra } from './server-eras.ts';
import type { Era } from './server-eras.ts';
import { ProcessFailure } from '@interlude-ai/core/mcp/stdio/process.ts';
import { StdioTransport } from '@interlude-ai/core/mcp/stdio/transport.ts';

export async function connect(target: Target): Promise<Connection | Refused | Unreachable> {
  const { server, credential, eras, tool, session } = target;
  const unsendable = unsendableHeader(server, credential);
  if (unsendable !== undefined) {
    const trouble = { code: 'header_unsendable', server: nameOf(server), header: unsendable } as const;
    return outcomeWith('unreachable', trouble);
  }
  if (session) return opened(target, await openConnection(target));
  // When nothing can be asked, the era does not matter, and the new one takes fewer requests.
  const wanted =
    target.era ?? (canAsk(target) ? await eras.wanted(server, tool) : (fixedEra(server) ?? 'modern'));
  const connection = await connectIn(target, wanted);
  const isLearned = wanted && canAsk(target) && !target.era && !fixedEra(server);
  if (connection.kind !== 'connected' || !isLearned) return connection;
  if (!(await eras.isOutdated(server, tool, connection.client))) return connection;
  connection.close();
  return connect(target);
}

async function connectIn(
  target: Target,
  wanted: Era | undefined,
): Promise<Connection | Refused | Unreachable> {
  const { server, deadline, eras } = target;
  const known = eras.known(server);
  const discovery = discoveryFor(known, wanted);
  if (discovery) {
    const first = await openConnection(target, { discovery });
    // The server may have changed its era.
    if (first.connection || deadline.end || !eraMayHaveChanged(first.exchanges.last()?.status))
      return opened(target, first);
    eras.changed(server);
    return connectIn(target, wanted);
  }
  if (fixedEra(server) === 'legacy')
    return opened(target, await openConnection(target, { discovery: { kind: 'legacy' } }));
  // An expired token may be answered with 400, like an unknown version. A fresh connection in the new era tells the two
  // apart.
  const isAccounts = target.credential.tokenId !== undefined;
  if (known.modern && known.legacy === undefined && !isAccounts) return preferOldEra(target);
  const first = await negotiate(target);
  if (first.connection?.client.getProtocolEra() !== 'modern') return opened(target, first);
  return wanted === 'modern' ? first.connection : preferOldEra(target, first.connection);
}

/** Asks for the new era first, as the SDK does, and remembers what the server supports. */
async function negotiate(target: Target): Promise<OpenResult> {
  const { server, deadline, eras } = target;
  const report = deferExitReport(target);
  const mode = fixedEra(server) === 'modern' ? { pin: '2026-07-28' } : 'auto';
  const first = await openConnection({ ...target, onProcessExit: report.onProcessExit }, { mode });
  const { connection } = first;
  const isOver = connection !== undefined || deadline.end !== undefined || mode !== 'auto';
  const endedByProbe = !isOver && server.process !== undefined && isEndedByProbe(first.exchanges);
  if (!endedByProbe) report.release();
  if (connection) {
    const discover = connection.client.getDiscoverResult();
    if (discover) eras.found(server, { modern: discover });
    else eras.found(server, { modern: null, legacy: { canPush: canPush(connection) } });
  }
  if (isOver) return first;
  const last = first.exchanges.last();
  // Some old servers fail on an unknown method, or exit when they get a request before the handshake.
  const failedOnProbe = (last?.status ?? 0) >= 500 && last?.method === 'server/discover';
  if (!failedOnProbe && !endedByProbe) return first;
  const old = await openConnection(target, { discovery: { kind: 'legacy' } });
  if (endedByProbe) {
    if (old.connection) eras.found(server, { modern: null, legacy: { canPush: true } });
    report.release({ isExcused: old.connection !== undefined });
  }
  return old;
}

/**
 * For a server that supports the new era: uses the old one if the server can push questions there. Closes `modern` if it is
 * not used.
 */
async function preferOldEra(
  target: Target,
  modern?: Connection,
): Promise<Connection | Refused | Unreachable> {
  const { server, eras } = target;
  const { connection, exchanges } = await openConnection(target, {
    discovery: { kind: 'legacy' },
    timeoutMs: silentProbeMs,
  });
  const status = exchanges.last()?.status;
  const isRefused = status !== undefined && status >= 400 && status < 500 && status !== 401 && status !== 403;
  if (connection) eras.found(server, { legacy: { canPush: canPush(connection) } });
  else if (isRefused || server.process) eras.found(server, { legacy: null });
  if (connection && (canPush(connection) || target.era === 'legacy')) {
    modern?.close();
    return connection;
  }
  connection?.close();
  if (modern) return modern;
  const discover = eras.known(server).modern;
  const discovery = discover ? { kind: 'modern' as const, discover } : undefined;
  return opened(target, await openConnection(target, { discovery }));
}

/** Over HTTP, a server without sessions cannot match an answer with its question. */
export function canPush({ transport }: Pick<Connection, 'transport'>): boolean {
  return transport.sessionId !== undefined || transport instanceof StdioTransport;
}

function opened(target: Target, { connection, exchanges }: OpenResult): Connection | Refused | Unreachable {
  return connection ?? connectFailureOf(target, exchanges);
}

/** Whether the status can mean that the server no longer supports the cached era. */
export function eraMayHaveChanged(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
}

export function connectFailureOf(
  { server, credential, deadline }: Pick<Target, 'server' | 'credential' | 'deadline'>,
  exchanges: ExchangeLog,
): Refused | Unreachable {
  const exchange = exchanges.last();
  const unreachable = outcomeWith('unreachable', connectTroubleOf(server, exchange, deadline));
  return (!deadline.end && refusedAccount(exchange, credential, unreachable)) || unreachable;
}

function connectTroubleOf(
  server: ServerConfig,
  exchange: Exchange | undefined,
  { end }: Deadline,
): ServerTrouble {
  const isHandshake = exchange?.method === 'initialize' || exchange?.method === 'server/discover';
  if (server.era && fixedEra(server) && isHandshake && eraMayHaveChanged(exchange.status) && !end)
    return { code: 'other_era', server: nameOf(server), era: server.era, status: exchange.status ?? 0 };
  return troubleOf(server, exchange, end);
}

/**
 * Reports the exit of a process only once it is known whether it was a failure: a process that exits on a probe may work
 * with the other handshake.
 */
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
