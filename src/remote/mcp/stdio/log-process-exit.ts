/** What a server process leaves behind in our log: how it ended, and why, where it was not told to. */
import type { Logger } from 'pino';
import type { ServerConfig } from '../../../config/config.ts';
import { plainText } from '../../../elicitation/plain-text.ts';
import type { ProcessReport } from './process.ts';
import { withoutSecrets } from './redact-secrets.ts';

const mostLines = 10;

export function logProcess(
  logger: Pick<Logger, 'debug' | 'warn'>,
  { name: server, process }: ServerConfig,
): (report: ProcessReport) => void {
  return ({ exitCode, signal, stderrBytes, stderrEnd, isFailure }) => {
    const facts = { server, exitCode, signal, stderrBytes };
    if (!isFailure || !process) {
      logger.debug(facts, 'process of a server has ended');
      return;
    }
    const lines = withoutSecrets(plainText(stderrEnd), process).split('\n');
    const stderr = lines.filter((line) => line.trim() !== '').slice(-mostLines);
    const how = signal === null ? `exit code ${exitCode}` : signal;
    const said = stderr.length > 0 ? `it said:\n${stderr.join('\n')}` : 'it said nothing';
    logger.warn({ ...facts, stderr }, `the process of server "${server}" failed (${how}); ${said}`);
  };
}
