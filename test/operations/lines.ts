/** The connections between the parts of an installation, which a test cuts or keeps away for a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import type { TcpProxy } from '../servers/tcp-proxy.ts';

export const lineNames = ['users', 'PostgreSQL', 'Temporal', 'servers', 'model'] as const;
export type LineName = (typeof lineNames)[number];

export type Lines = ReturnType<typeof createLines>;

export function createLines() {
  const proxies: { name: LineName; proxy: TcpProxy }[] = [];
  const of = (name: LineName) => proxies.flatMap((one) => (one.name === name ? one.proxy : []));
  return {
    /** The port that leads to this one. */
    async through(name: LineName, port: number): Promise<number> {
      const proxy = await startTcpProxy({ to: port });
      proxies.push({ name, proxy });
      return proxy.port;
    },
    /** Every open connection is reset; new ones are accepted. */
    cut: (name: LineName) => of(name).forEach((proxy) => proxy.cut()),
    async away(name: LineName, ms: number): Promise<void> {
      for (const proxy of of(name)) {
        proxy.refuse();
        proxy.cut();
      }
      await sleep(ms);
      for (const proxy of of(name)) proxy.accept();
    },
    stop: () => Promise.all(proxies.map(({ proxy }) => proxy.stop())),
  };
}
