/** Logs how the process of a server ended and, where it was not told to end, what it wrote last. */
import type { Logger } from 'pino';
import type { ServerConfig } from '../config/config.ts';
import { plainText } from '../elicitation/plain-text.ts';
import type { ProcessExit } from './call-listener.ts';
import { redactSecrets } from './redact-process-output.ts';

const maxLines = 10;

export function logProcessExit(
  logger: Pick<Logger, 'debug' | 'warn'>,
  { name: server, process }: ServerConfig,
): (exit: ProcessExit) => void {
  return ({ exitCode, signal, stderrBytes, stderrEnd, isFailure }) => {
    const facts = { server, exitCode, signal, stderrBytes };
    if (!isFailure || !process) {
      logger.debug(facts, 'the process of a stdio server has ended');
      return;
    }
    const lines = redactSecrets(plainText(stderrEnd), process).split('\n');
    const stderr = lines.filter((line) => line.trim() !== '').slice(-maxLines);
    const how = signal === null ? `exit code ${exitCode}` : signal;
    const said = stderr.length > 0 ? `it said:\n${stderr.join('\n')}` : 'it said nothing';
    logger.warn({ ...facts, stderr }, `the process of server "${server}" failed (${how}); ${said}`);
  };
}
