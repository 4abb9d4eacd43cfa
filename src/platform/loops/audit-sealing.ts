/** Seals new entries of the audit: they get their places in the chain within seconds. Every process may run it. */
import type { Logger } from 'pino';
import { startLeasedLoop } from '../../storage/leased-loop.ts';
import type { LeasedLoop } from '../../storage/leased-loop.ts';
import type { Storage } from '../../storage/storage.ts';

const everyMs = 2_000;

export function startAuditSealing({
  storage,
  logger,
}: {
  storage: Pick<Storage, 'auditChain'>;
  logger: Logger;
}): Pick<LeasedLoop, 'stop'> {
  return startLeasedLoop<never>(
    {
      name: 'audit entries to seal',
      everyMs,
      atOnce: 1,
      async claim() {
        while ((await storage.auditChain.seal()) > 0);
        return [];
      },
      work: () => Promise.resolve(),
    },
    logger,
  );
}
