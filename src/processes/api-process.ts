/** The API process. Any number of them may run; what they know is in the database and in Temporal. */
import { openParts } from './parts.ts';
import { runProcess } from './run-process.ts';
import { requireAuth, serveApi } from './serve-api.ts';
import { keepTellingReadiness } from './log-readiness.ts';
import { connectClient } from '../temporal/connection.ts';

export async function runApiProcess(): Promise<void> {
  await runProcess({ human: false, letsIn: true }, async (config, logger, stack) => {
    const parts = await openParts(requireAuth(config), logger);
    stack.defer(() => parts.storage.close());
    const { client, close } = connectClient(config.temporal);
    stack.defer(close);
    const lacks = await serveApi(parts, client, stack);
    keepTellingReadiness(lacks, { logger, url: config.http.publicUrl }, stack);
  });
}
