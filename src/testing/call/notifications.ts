/** Notifications of a server during a call, whatever shape they came in. */
import type { LogLine, Progress } from './call-events.ts';

export function toProgress(params: Record<string, unknown>): Progress {
  const { progress, total, message } = params;
  return {
    progress: typeof progress === 'number' ? progress : 0,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  };
}

export function toLogLine({ level, logger, data }: Record<string, unknown>): LogLine {
  return {
    level: typeof level === 'string' ? level : 'info',
    ...(typeof logger === 'string' && { logger }),
    data,
  };
}
