/** What a Slack app has to remember: workspaces, what they sent, who its people are here, and where they talk. */

import type { SlackDeliveries } from './slack-deliveries.ts';

export interface SlackTables {
  installations: SlackInstallations;
  events: SlackEvents;
  people: SlackPeople;
  tickets: SlackTickets;
  threads: SlackThreads;
  deliveries: SlackDeliveries;
  questions: SlackQuestions;
}

export interface SlackQuestions {
  /**
   * Whether somebody settled it neither in Slack nor on the page that Slack led them to. False, too, where nobody answered,
   * and where it is not known.
   */
  wasSettledElsewhere(elicitationId: string): Promise<boolean>;
}

export interface SlackInstallations {
  /** Takes the place of an earlier one of this workspace. */
  put(installation: SlackInstallation): Promise<void>;
  get(team: string): Promise<SlackInstallation | null>;
  /** With everything that is known of its people and threads. */
  remove(team: string): Promise<void>;
  /** Of a tenant, by their names. */
  list(tenant: string): Promise<SlackInstallation[]>;
}

/** One workspace in which the app is installed. */
export interface SlackInstallation {
  team: string;
  teamName: string;
  tenant: string;
  /** Who the app is there: messages that mention this user are for us. */
  botUser: string;
  scopes: string;
  /** Who installed it; null: the environment did. */
  installedBy: string | null;
  /** The bot's token. */
  sealed: string;
}

/** A person in Slack, by the workspace in which they wrote to us. */
export interface SlackPerson {
  team: string;
  slackUser: string;
}

export interface SlackEvents {
  /** False: it is known already, from an earlier delivery to whichever process. */
  add(event: NewSlackEvent): Promise<boolean>;
  /** The same for some hundreds in one statement. Returns how many were not known. */
  addAll(events: NewSlackEvent[]): Promise<number>;
  /**
   * Leases events that are due, the oldest first, and none whose lane has an older one: what one person says in one
   * thread is taken in its order, whichever processes are at work.
   */
  claim(limit: number, leaseMs: number): Promise<SlackEvent[]>;
  /** What is still at work keeps its lease. */
  renew(events: SlackEventKey[], leaseMs: number): Promise<void>;
  /** Is due again after this time, whoever claims it then. */
  postpone(event: SlackEventKey, ms: number): Promise<void>;
  /** Waits until its sender is linked, and is not due until then. */
  park(event: SlackEventKey): Promise<void>;
  /** Whether another event of this lane waits for its sender. */
  waitsInLane(of: { team: string; lane: string }): Promise<boolean>;
  /** What waited for this person, since `since`, is due now. Returns how many. */
  unpark(person: SlackPerson, since: number): Promise<number>;
  /** Nothing of it is left but its id. */
  finish(event: SlackEventKey): Promise<void>;
  /** Forgets what was received before: nobody sends it again. */
  forget(before: number): Promise<void>;
}

export interface SlackEventKey {
  team: string;
  eventId: string;
}

export interface NewSlackEvent extends SlackEventKey {
  /** Empty where nobody in particular is behind it. */
  slackUser: string;
  /** Events of one lane are taken one after the other. */
  lane: string;
  /** Slack's time of it, which orders the events of a lane. */
  ts: string;
  sealed: string;
}

export interface SlackEvent extends NewSlackEvent {
  receivedAt: number;
  /** How often it was claimed, this time included. */
  tries: number;
}

export interface SlackPeople {
  get(person: SlackPerson): Promise<LinkedPerson | null>;
  /** Takes the place of an earlier one. */
  link(person: LinkedPerson): Promise<void>;
  unlink(person: SlackPerson): Promise<void>;
  ofUser(user: { tenant: string; user: string }): Promise<LinkedPerson[]>;
}

export interface LinkedPerson extends SlackPerson {
  tenant: string;
  user: string;
  linkedAt: number;
}

/** What somebody was handed to come back with, once and in time. Kept as a digest only. */
export interface SlackTickets {
  /** Ends earlier ones for the same purpose and person. */
  issue(ticket: SlackTicket): Promise<void>;
  /** Null when it was used, replaced, or is too old. */
  find(digest: string, purpose: SlackTicket['purpose']): Promise<SlackTicket | null>;
  /** True for one caller only. */
  use(digest: string): Promise<boolean>;
  /** Until when the newest one of this person holds; null without one. */
  until(person: SlackPerson): Promise<number | null>;
}

export interface SlackTicket extends SlackPerson {
  digest: string;
  /** `install`: who may come back from Slack with an installation; it has neither team nor user. */
  purpose: 'link' | 'install';
  expiresAt: number;
}

export interface SlackThreads {
  /** The conversation that this person has there, or null. */
  get(thread: ThreadKey): Promise<SlackThread | null>;
  /** The one that is there by now: an earlier one stays. */
  begin(thread: SlackThread): Promise<SlackThread>;
  remove(thread: ThreadKey): Promise<void>;
  /** Where a conversation is shown; null: not in Slack. */
  ofConversation(of: { tenant: string; conversation: string }): Promise<SlackThread | null>;
  agentOf(team: string, channel: string): Promise<string | null>;
  /** Null: the default one again. */
  setAgent(team: string, channel: string, agent: string | null): Promise<void>;
}

export interface ThreadKey extends SlackPerson {
  channel: string;
  threadTs: string;
}

export interface SlackThread extends ThreadKey {
  tenant: string;
  conversation: string;
  agent: string;
}
