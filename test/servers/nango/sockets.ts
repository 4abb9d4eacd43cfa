/** The WebSocket that reports a popup's result to its page. There is no keep-alive, and lost messages are not sent again. */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

export interface Sockets {
  /** Does nothing when that client is gone. */
  send(socketId: string | null, frame: Record<string, unknown>): void;
  open(): number;
  ever(): number;
  cut(): void;
}

export function acceptSockets(server: Server, websocketsPath: string): Sockets {
  const clients = new Map<string, WebSocket>();
  let ever = 0;
  const accepting = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    if (new URL(request.url ?? '/', 'http://nango').pathname !== websocketsPath) return void socket.destroy();
    accepting.handleUpgrade(request, socket, head, (client) => {
      const socketId = randomUUID();
      clients.set(socketId, client);
      ever++;
      client.on('close', () => clients.delete(socketId));
      client.on('error', () => client.terminate());
      client.send(JSON.stringify({ message_type: 'connection_ack', ws_client_id: socketId }));
    });
  });
  return {
    send(socketId, frame) {
      clients.get(socketId ?? '')?.send(JSON.stringify(frame));
    },
    open: () => clients.size,
    ever: () => ever,
    cut() {
      for (const client of clients.values()) client.terminate();
    },
  };
}
