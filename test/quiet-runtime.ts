import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

/** Tests that break things on purpose would fill the screen with Temporal's warnings. Before any connection is made. */
export function installQuietRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }), forward: {} },
    },
  });
}
