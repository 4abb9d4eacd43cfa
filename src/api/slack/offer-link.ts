/** Hands somebody the link with which they say who they are, where only they see it. */
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import type { SlackContext } from './context.ts';
import { notify } from './notice.ts';
import type { Place } from './notice.ts';

/** `again`: also when they were just given one. Rejects where it may be tried again. */
export async function offerLink(
  { slack: { links }, http }: Pick<SlackContext, 'slack' | 'http'>,
  workspace: SlackWorkspace,
  place: Place,
  { again }: { again: boolean },
): Promise<void> {
  const token = await links.issue({ team: workspace.team, slackUser: place.slackUser }, again);
  if (token === null) return;
  try {
    await notify(workspace, place, offerText(`${http.publicUrl}/slack/link?t=${token}`));
  } catch (error) {
    await links.takeBack(token);
    throw error;
  }
}

export function offerText(address: string): string {
  return `Before I can help, I have to know who you are. <${address}|Connect your account> – this link is only for you, and works for 30 minutes. What you asked goes on by itself then.`;
}
