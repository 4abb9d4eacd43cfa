/** What a server process leaves behind in our log. What it wrote may be anything, so only `trace` shows it. */
import type { Logger } from 'pino';
import type { ServerConfig } from '../config.ts';
import type { ProcessReport } from './stdio-process.ts';

export function logProcess(
  logger: Pick<Logger, 'debug' | 'trace'>,
  { name: server }: ServerConfig,
): (report: ProcessReport) => void {
  return ({ exitCode, signal, stderrBytes, stderrEnd }) => {
    logger.debug({ server, exitCode, signal, stderrBytes }, 'process of a server has ended');
    if (stderrEnd !== '')
      logger.trace({ server, stderr: stderrEnd }, 'what a server wrote to its standard error');
  };
}
