import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';

/** True when nobody listens on this port now. */
export function isFree(port: number, host: string): Promise<boolean> {
  return listenOn(port, host).then(
    () => true,
    () => false,
  );
}

/** A port nobody listens on now; the system does not hand it out again for a while. */
export function freePort(host: string): Promise<number> {
  return listenOn(0, host);
}

async function listenOn(port: number, host: string): Promise<number> {
  await using server = createServer().listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The wanted port; when the usual one is taken, any other; when the one asked for is taken, a clear refusal. */
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
