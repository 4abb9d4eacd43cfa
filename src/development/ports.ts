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

/** A free port; the system does not assign it again for a while. */
export function freePort(host: string): Promise<number> {
  return listenOn(0, host);
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
  if (wanted !== 0 && (await isFree(wanted, host))) return wanted;
  if (wanted !== 0 && wanted !== usual) {
    throw new PortTaken(
      `${variable}: port ${wanted} is taken; stop what listens there or set ${variable} to another port`,
    );
  }
  const port = await freePort(host);
  if (wanted !== 0)
    logger.warn(`port ${wanted} is taken, using ${port} instead (${variable} chooses another)`);
  return port;
}

class PortTaken extends Error {
  override name = 'PortTaken';
}
