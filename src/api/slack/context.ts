/** What everything that answers Slack is handed. */
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { Service } from '../../service/service.ts';
import type { SlackService } from '../../service/slack/slack-service.ts';

export interface SlackContext {
  slack: SlackService;
  service: Pick<
    Service,
    'agents' | 'startTurn' | 'questionsOf' | 'askedQuestion' | 'answerQuestion' | 'connections'
  >;
  http: Pick<Config['http'], 'publicUrl' | 'rateLimitPerMinute'>;
  logger: Logger;
}
