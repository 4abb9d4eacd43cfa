import { DefaultLogger, IllegalStateError, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

/**
 * Tests that break things on purpose would fill the screen with Temporal's warnings. Before any connection is made. A
 * process has one runtime, and files that follow each other in one process ask for it again.
 */
export function installQuietRuntime(): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: {
        logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }), forward: {} },
      },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
