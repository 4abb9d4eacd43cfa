/** How the bench asks the process of `floor.ts` for a measurement. All times are milliseconds. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { Config } from '../src/platform/config/config.ts';
import type { MemoryUse } from './memory-use.ts';

export interface History {
  events: number;
  bytes: number;
}

export interface FloorBurst {
  /** When each signal was acknowledged, counted from the first one's sending. */
  acknowledgedMs: number[];
  /** When each activity began. */
  actedMs: number[];
  /** Processor time of the floor's process until all have ended, in milliseconds. */
  cpu: number;
}

export interface Floor {
  echo(): Promise<void>;
  /** One durable write, to the same database each time. */
  write(to: { database: Config['database'] }): Promise<void>;
  /** A workflow that acts at once: the start call, and the time until its activity begins. */
  start(): Promise<{ rpc: number; toActivity: number }>;
  /** A workflow that waits: signal until its activity begins. */
  answer(): Promise<{ toActivity: number }>;
  /** A workflow that waits; its activity will call this address, as `Bearer <workflow id>`. */
  waitFor(call: { url: string }): Promise<{ workflowId: string }>;
  signal(to: { workflowId: string }): Promise<void>;
  callModel(): Promise<{ firstByte: number; firstText: number }>;
  /** Whole workflows with one activity each. */
  run(load: { count: number; atOnce: number }): Promise<{ perSecond: number }>;
  /** So many workflows wait, and all are signalled at once. */
  burst(load: { count: number }): Promise<FloorBurst>;
  histories(): Promise<{ startAndAct: History; waitAndAct: History }>;
  /** Where bare event streams are to be had, which stay open until the next `broadcast` has ended. */
  streams(): Promise<{ url: string }>;
  /** So many pieces of text to all open streams; the processor time it took. */
  broadcast(text: { tokens: number; everyMs: number }): Promise<{ cpu: number }>;
  memory(): Promise<MemoryUse>;
  /** Processor time used so far. */
  cpu(): Promise<{ milliseconds: number }>;
  /** What each of so many waiting workflows adds to the resident memory, in bytes. */
  wait(load: { count: number }): Promise<{ bytesEach: number }>;
}

export async function startFloor(temporal: {
  address: string;
  namespace: string;
  modelUrl: string;
}): Promise<Floor & AsyncDisposable> {
  const { address, namespace, modelUrl } = temporal;
  const child = fork(fileURLToPath(new URL('floor.ts', import.meta.url)), [address, namespace, modelUrl], {
    execArgv: ['--expose-gc', '--import', fileURLToPath(new URL('collect-in-threads.ts', import.meta.url))],
  });
  const exited = once(child, 'exit');
  const [ready] = (await Promise.race([
    once(child, 'message'),
    exited.then(() => Promise.reject(new Error('the floor process ended before it was ready'))),
  ])) as [{ port: number }];
  const ask = async <T>(measurement: keyof Floor, body: object = {}): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${ready.port}/${measurement}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`floor ${measurement}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  return {
    echo: () => ask('echo'),
    write: (to) => ask('write', to),
    start: () => ask('start'),
    answer: () => ask('answer'),
    waitFor: (call) => ask('waitFor', call),
    signal: (to) => ask('signal', to),
    callModel: () => ask('callModel'),
    run: (load) => ask('run', load),
    burst: (load) => ask('burst', load),
    histories: () => ask('histories'),
    streams: () => ask('streams'),
    broadcast: (text) => ask('broadcast', text),
    memory: () => ask('memory'),
    cpu: () => ask('cpu'),
    wait: (load) => ask('wait', load),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
