/** Ports of this machine: which are free, and what has the ones that are not. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';

/** True if this port is free now. */
export function isFree(port: number, host: string): Promise<boolean> {
  return listenOn(port, host).then(
    () => true,
    () => false,
  );
}

/**
 * A free port, below those that systems give to outgoing connections, one of which could take it before its server listens.
 */
export async function freePort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(10_100, 30_100);
    if (await isFree(port, host)) return port;
  }
}

async function listenOn(port: number, host: string): Promise<number> {
  await using server = createServer().listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The wanted port. If it is taken: any other in place of the usual port, an error for a configured one. */
export async function choosePort({
  host,
  wanted,
  usual,
  variable,
  logger,
}: {
  host: string;
  wanted: number;
  usual: number;
  variable: string;
  logger: Logger;
}): Promise<number> {
  if (wanted !== 0 && wanted !== usual) {
    await requireFreePorts([{ variable, port: wanted, host }]);
    return wanted;
  }
  if (wanted !== 0 && (await isFree(wanted, host))) return wanted;
  const port = await freePort(host);
  if (wanted !== 0)
    logger.warn(`port ${wanted} is taken, using ${port} instead (${variable} chooses another)`);
  return port;
}

export interface WantedPort {
  variable: string;
  /** 0: any. */
  port: number;
  host: string;
}

/** A message for people, without a stack. */
class PortsTaken extends Error {
  override name = 'PortsTaken';
}

/** Throws `PortsTaken` if some of them are taken. `besides`: what else a second Interlude needs, at the end of a sentence. */
export async function requireFreePorts(wanted: readonly WantedPort[], besides = ''): Promise<void> {
  const isTaken = await Promise.all(
    wanted.map(async ({ port, host }) => port !== 0 && (await listensAlready(port, host))),
  );
  const taken = wanted.filter((_, index) => isTaken[index]);
  if (taken.length > 0) throw await portsTaken(taken, besides);
}

async function listensAlready(port: number, host: string): Promise<boolean> {
  try {
    await listenOn(port, host);
    return false;
  } catch (error) {
    // Any other reason, like a port that needs more rights, is reported by the server that wants to listen there.
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  }
}

/** Names all of these ports, and those at which an Interlude answers. */
export async function portsTaken(taken: readonly WantedPort[], besides = ''): Promise<PortsTaken> {
  const running = await Promise.all(taken.map(findInterlude));
  const [address] = running.filter((one) => one !== undefined);
  const lines = taken.map(
    ({ variable, port }, index) =>
      `  • ${port} (${variable})${running[index] === undefined ? '' : ': an Interlude answers there'}`,
  );
  const variables =
    taken.length === 1 ? `set ${taken[0]?.variable} to a free port` : 'set these variables to free ports';
  return new PortsTaken(
    [
      taken.length === 1 ? 'A port is taken:' : 'Ports are taken:',
      ...lines,
      address === undefined
        ? `Stop what listens there, or ${variables}.`
        : `Interlude is running already, at ${address}: use that one, or stop it first. For another one beside it, ${variables}${besides}.`,
    ].join('\n'),
  );
}

const answerWithinMs = 2_000;

/** The address of an Interlude that answers at this port; undefined if none does. */
async function findInterlude({ port, host }: WantedPort): Promise<string | undefined> {
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  const address = `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
  try {
    const response = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(answerWithinMs) });
    const { status } = (await response.json()) as { status?: unknown };
    return status === 'ready' || status === 'not ready' ? address : undefined;
  } catch {
    return undefined;
  }
}
