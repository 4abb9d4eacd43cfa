/** How what Slack trusts us with is kept: the token of each workspace, and what its people wrote until it is a turn. */
import type { SlackEventKey } from '../../storage/ports/slack.ts';

export function slackTokenContext(team: string): string {
  return `slack-token/${team}`;
}

export function slackEventContext({ team, eventId }: SlackEventKey): string {
  return `slack-event/${team}/${eventId}`;
}
