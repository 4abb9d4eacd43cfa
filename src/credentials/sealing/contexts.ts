/** What each sealed value is bound to, as whoever seals values of its kind says. */
import type { ConnectionKey } from '../../storage/ports/connections.ts';
import type { SealedValue } from '../../storage/ports/sealed-values.ts';
import { accountContext } from '../mcp-oauth/account.ts';
import { attemptContext } from '../mcp-oauth/attempt.ts';
import { recordContext } from '../mcp-oauth/records.ts';
import { linkContext } from '../nango/link.ts';
import { answerContext } from './sealed-answer.ts';
import { pushContext } from './sealed-push-target.ts';
import { slackEventContext, slackTokenContext } from './sealed-slack.ts';
import { roundContext } from './sealed-round.ts';
import { codeContext, effectContext } from './sealed-code.ts';
import type { Stores } from '../stores.ts';
import { apiKeyContext } from '../vault/api-key.ts';

const byStore: Record<keyof Stores, (key: ConnectionKey) => string> = {
  oauth: accountContext,
  vault: apiKeyContext,
  nango: linkContext,
};
const connectionContexts = new Map(Object.entries(byStore));

/** The context it was sealed in; null for a connection of a store that is not known here. */
export function contextOf(value: SealedValue): string | null {
  switch (value.table) {
    case 'connections':
      return connectionContexts.get(value.store)?.(value) ?? null;
    case 'oauth_records':
      return recordContext(value.key);
    case 'oauth_attempts':
      return attemptContext(value.stateHash);
    case 'elicitation_answers':
      return answerContext(value.elicitationId);
    case 'tool_call_rounds':
      return roundContext(value);
    case 'workflow_code':
      return codeContext(value.id);
    case 'tool_effects':
      return effectContext(value);
    case 'push_configs':
      return pushContext(value.deliveryId);
    case 'slack_installations':
      return slackTokenContext(value.team);
    case 'slack_events':
      return slackEventContext(value);
    default:
      return value satisfies never;
  }
}
