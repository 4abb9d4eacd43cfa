/** Tables of the Slack app. See ../schema.ts and ../ports/slack.ts. */
import type { SlackMessageRow } from '../ports/slack-deliveries.ts';
import type { SlackTicket } from '../ports/slack.ts';

export interface SlackSchema {
  slack_installations: {
    team: string;
    team_name: string;
    tenant: string;
    bot_user: string;
    scopes: string;
    installed_by: string | null;
    sealed: string;
  };
  slack_events: {
    team: string;
    event_id: string;
    slack_user: string;
    lane: string;
    ts: string;
    /** Empty once it is done with. */
    sealed: string;
    is_parked: number;
    /** Also a lease; null: parked, or done with. */
    due_at: number | null;
    tries: number;
    received_at: number;
  };
  slack_users: {
    team: string;
    slack_user: string;
    tenant: string;
    user_id: string;
    linked_at: number;
  };
  slack_tickets: {
    digest: string;
    purpose: SlackTicket['purpose'];
    team: string;
    slack_user: string;
    expires_at: number;
  };
  slack_threads: {
    team: string;
    channel: string;
    thread_ts: string;
    slack_user: string;
    tenant: string;
    conversation: string;
    agent: string;
  };
  slack_channels: {
    team: string;
    channel: string;
    agent: string;
  };
  slack_deliveries: {
    turn_id: string;
    tenant: string;
    conversation: string;
    team: string;
    channel: string;
    thread_ts: string;
    slack_user: string;
    streams: number;
    /** Who may write to its messages: the newest attempt at it. */
    holder: string;
    /** In the order of the conversation. */
    number: number;
    /** When the newest attempt began. */
    held_at: number;
    is_over: number;
  };
  slack_messages: {
    turn_id: string;
    number: number;
    team: string;
    channel: string;
    ts: string | null;
    kind: SlackMessageRow['kind'];
    subject: string;
    begins: number;
    ends: number;
    digest: string;
    is_sure: number;
    is_open: number;
    is_stream: number;
    started_at: number;
  };
}
