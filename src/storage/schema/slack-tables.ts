/** Tables of the Slack app. See ../schema.ts and ../tables/slack.ts. */
import type { Columns } from '../columns.ts';

/** A person in Slack, by the workspace in which they wrote to us. */
export interface SlackPerson {
  team: string;
  slackUser: string;
}

export interface SlackMessageRow {
  turnId: string;
  /** In the order of the thread, from 1. */
  number: number;
  team: string;
  channel: string;
  /** Slack's id of it; null: it is about to be posted, or may have been. */
  ts: string | null;
  kind: 'text' | 'question' | 'end';
  /** The text of the answer, or the question. */
  subject: string;
  /** Of a text: the range that is shown here. */
  begins: number;
  ends: number;
  /** Of what is shown. */
  digest: string;
  /** False during a call, and after a call with an unknown result. */
  isSure: boolean;
  /** More may be added to it. */
  isOpen: boolean;
  isStream: boolean;
  startedAt: number;
}

export interface SlackSchema {
  /** Workspaces in which the app is installed. */
  slack_installations: {
    team: string;
    team_name: string;
    tenant: string;
    /** The app's user there: messages that mention it are for the app. */
    bot_user: string;
    scopes: string;
    /** The user who installed it; null: the environment did. */
    installed_by: string | null;
    /** The bot's token. */
    sealed: string;
  };
  slack_events: {
    team: string;
    event_id: string;
    /** Empty if no user is behind it. */
    slack_user: string;
    /** Events of one lane are handled one after another. */
    lane: string;
    /** Slack's timestamp, the order of events in a lane. */
    ts: string;
    /** Empty once it is handled. */
    sealed: string;
    is_parked: number;
    /** Also a lease; null: parked, or handled. */
    due_at: number | null;
    /** The number of claims. */
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
    /** `install`: for an operator who comes back from Slack with an installation; without team and user. */
    purpose: 'link' | 'install';
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
    /** The newest attempt, which alone may write to its messages. */
    holder: string;
    /** The order in the conversation. */
    number: number;
    /** When the newest attempt began. */
    held_at: number;
    is_over: number;
  };
  slack_messages: Columns<SlackMessageRow>;
}
