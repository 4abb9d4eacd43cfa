/** Ends connections at Nango that nothing here refers to. A courtesy: what fails is left there, and not tried for ever. */
import type { Logger } from 'pino';
import type { NangoClient } from './client.ts';
import { NangoError } from './failure.ts';

/** Never throws. */
export type Remove = (integration: string, connectionId: string) => Promise<void>;

const mostRemembered = 1_000;

export function createRemove({ client, logger }: { client: NangoClient; logger: Logger }): Remove {
  const inVain = new Set<string>();

  return async (integration, connectionId) => {
    const name = JSON.stringify([integration, connectionId]);
    if (inVain.has(name)) return;
    try {
      await client.remove(integration, connectionId);
      logger.info({ integration }, 'a connection at Nango that nothing refers to was ended');
    } catch (error) {
      if (!(error instanceof NangoError)) throw error;
      if (error.failure.kind === 'missing') return;
      if (inVain.size >= mostRemembered) inVain.clear();
      inVain.add(name);
      logger.warn(
        { integration, reason: error.failure.kind },
        'a connection at Nango that nothing refers to could not be ended',
      );
    }
  };
}
