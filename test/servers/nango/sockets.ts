/** The WebSocket that reports a popup's result to its page. There is no keep-alive, and lost messages are not sent again. */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

export type Sockets = ReturnType<typeof createSockets>;

export function createSockets(websocketsPath: string) {
  const clients = new Map<string, WebSocket>();
  let ever = 0;
  const accepting = new WebSocketServer({ noServer: true });
  const accept = (client: WebSocket) => {
    const socketId = randomUUID();
    clients.set(socketId, client);
    ever++;
    client.on('close', () => clients.delete(socketId));
    client.on('error', () => client.terminate());
    client.send(JSON.stringify({ message_type: 'connection_ack', ws_client_id: socketId }));
  };
  return {
    /** Accepts clients of this server from now on. */
    attach: (server: Server) =>
      server.on('upgrade', (request, socket, head) => {
        socket.on('error', () => socket.destroy());
        if (new URL(request.url ?? '/', 'http://nango').pathname !== websocketsPath) socket.destroy();
        else accepting.handleUpgrade(request, socket, head, accept);
      }),
    /** Does nothing when that client is gone. */
    send(socketId: string | null, frame: Record<string, unknown>): void {
      clients.get(socketId ?? '')?.send(JSON.stringify(frame));
    },
    /** Clients that ever opened a WebSocket. */
    ever: () => ever,
    /** As an idle proxy does it. */
    cut() {
      for (const client of clients.values()) client.terminate();
    },
  };
}
