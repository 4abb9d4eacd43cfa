/** Starts a demo server on loopback; a port that is taken is named together with the way around it. */
import type { Server } from 'node:http';

/** Its name tells the program that the message is for people, and no stack is needed. */
class PortTaken extends Error {
  override name = 'PortTaken';
}

export interface Listening {
  port: number;
  stop: () => Promise<void>;
}

export async function listen(server: Server, port: number, variable: string): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `Port ${port} is taken; set ${variable} to another one.`;
      reject(error.code === 'EADDRINUSE' ? new PortTaken(taken, { cause: error }) : error);
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port.');
  return {
    port: address.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
