import type { LogWarningsFunction } from 'ai';
import type { Logger } from 'pino';

/**
 * What a model does not heed, a setting that it does not know for example, goes where our log goes, each once. The AI
 * SDK has one door for that, for the whole process; it would write to the console at every call.
 */
export function logModelWarnings(logger: Pick<Logger, 'warn'>): void {
  const seen = new Set<string>();
  const log: LogWarningsFunction = (given) => {
    // Version 5 of the AI SDK, should it be in the same process, hands over the list alone.
    if (Array.isArray(given)) return;
    const { warnings, provider, model } = given;
    for (const warning of warnings) {
      const key = JSON.stringify([provider, model, warning]);
      if (seen.has(key)) continue;
      seen.add(key);
      logger.warn({ provider, model, warning }, 'a model ignores a setting of its agent');
    }
  };
  globalThis.AI_SDK_LOG_WARNINGS = log;
}
