/** The context that each stored sealed value was sealed with. */
import type { ConnectionKey } from '../../storage/schema/account-tables.ts';
import type { SealedValue } from '../../storage/tables/sealed-values.ts';
import { accountContext } from '../mcp-oauth/account.ts';
import { attemptContext, recordContext } from '../mcp-oauth/records.ts';
import { linkContext } from '../nango/link.ts';
import {
  answerContext,
  codeContext,
  effectContext,
  pushContext,
  roundContext,
  slackEventContext,
  slackTokenContext,
} from './sealed-values.ts';
import type { Stores } from '../stores.ts';
import { apiKeyContext } from '../vault.ts';

const byStore: Record<keyof Stores, (key: ConnectionKey) => string> = {
  oauth: accountContext,
  vault: apiKeyContext,
  nango: linkContext,
};
const connectionContexts = new Map(Object.entries(byStore));

/** Null for a connection of an unknown store. */
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
