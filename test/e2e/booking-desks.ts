/** Booking servers in a process that dies and is started again, at the same addresses, without any memory. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import path from 'node:path';
import { freePort } from '../free-port.ts';
import type { Kind } from '../servers/booking-server.ts';
import type { Report, StopOrder } from './booking-process.ts';

export interface MortalDesks {
  urls: Record<Kind, string>;
  /** What all of them have done so far, in every life. */
  done: Record<Kind, { done: string[] }>;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** While they are dead: resolves when somebody wanted to speak to this one, and could not. */
  missed(kind: Kind): Promise<void>;
  /** The next call about the city comes as far as that, and no further. Resolves when it has. */
  stopAt(order: StopOrder): Promise<void>;
}

export async function prepareDesks(): Promise<MortalDesks> {
  const ports = { rounds: await freePort(), streams: await freePort(), held: await freePort() };
  const urlOf = (kind: Kind) => `http://127.0.0.1:${ports[kind]}/mcp`;
  const done: MortalDesks['done'] = { rounds: { done: [] }, streams: { done: [] }, held: { done: [] } };
  const waiting = new Map<string, () => void>();
  let child: ChildProcess | undefined;

  function hear(report: Report): void {
    switch (report.type) {
      case 'ready':
        return waiting.get('ready')?.();
      case 'done':
        return void done[report.kind].done.push(report.words);
      case 'stopped':
        return waiting.get(report.city)?.();
      default:
        return report satisfies never;
    }
  }

  return {
    urls: { rounds: urlOf('rounds'), streams: urlOf('streams'), held: urlOf('held') },
    done,
    async start() {
      const ready = new Promise<void>((resolve) => waiting.set('ready', resolve));
      child = fork(path.resolve(import.meta.dirname, 'booking-process.ts'), [JSON.stringify(ports)]);
      child.on('message', hear);
      await ready;
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const dead = once(child, 'exit');
      child.kill('SIGKILL');
      await dead;
    },
    async missed(kind) {
      const door = createServer().listen(ports[kind], '127.0.0.1');
      const [socket] = (await once(door, 'connection')) as [Socket];
      socket.on('error', () => undefined).resetAndDestroy();
      door.close();
      await once(door, 'close');
    },
    stopAt(order) {
      const stopped = new Promise<void>((resolve) => waiting.set(order.city, resolve));
      child?.send(order);
      return stopped;
    },
  };
}
