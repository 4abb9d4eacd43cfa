/** The three booking servers in a process that can be killed. It gets orders and reports by messages. */
import { startBookingServer } from '../servers/booking-server.ts';
import type { BookingServer, Kind } from '../servers/booking-server.ts';

export interface StopOrder {
  kind: Kind;
  city: string;
  moment: 'before' | 'after';
}

export type Report =
  | { type: 'ready' }
  | { type: 'done'; kind: Kind; words: string }
  /** The call about this city has reached its stop. */
  | { type: 'stopped'; city: string };

const ports = JSON.parse(process.argv[2] ?? '') as Record<Kind, number>;
const report = (message: Report) => process.send?.(message);
const servers = new Map<string, BookingServer>();
for (const [name, port] of Object.entries(ports)) {
  const kind = name as Kind;
  const onDone = (words: string) => report({ type: 'done', kind, words });
  servers.set(kind, await startBookingServer(kind, { port, onDone }));
}
process.on('message', ({ kind, city, moment }: StopOrder) => {
  void servers
    .get(kind)
    ?.stopAt(city, moment)
    .arrived.then(() => report({ type: 'stopped', city }));
});
process.once('disconnect', () => process.exit());
report({ type: 'ready' });
