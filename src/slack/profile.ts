/** Who somebody is in Slack, as Slack says now. */
import { troubleOf } from './client.ts';
import type { WebClient } from './client.ts';

export interface SlackProfile {
  name: string;
  /** `guest`: with rights in some channels only; `external`: of another organisation. */
  kind: 'member' | 'guest' | 'external' | 'bot' | 'gone';
  /** Looks after the workspace. */
  isAdmin: boolean;
}

/** As seen from a workspace, by a client of it. */
export async function profileOf(
  { client, team }: { client: WebClient; team: string },
  slackUser: string,
): Promise<SlackProfile> {
  try {
    const { user } = await client.users.info({ user: slackUser });
    if (!user) return unknown;
    const { profile, real_name: real, name = slackUser } = user;
    const isAdmin = user.is_admin === true || user.is_owner === true;
    const shown = profile?.display_name || real || name;
    const teams = user.enterprise_user?.teams ?? [user.team_id ?? ''];
    if (user.deleted === true) return { ...unknown, name: shown };
    if (user.is_bot === true || slackUser === 'USLACKBOT')
      return { name: shown, kind: 'bot', isAdmin: false };
    if (user.is_stranger === true || !teams.includes(team))
      return { name: shown, kind: 'external', isAdmin: false };
    if (user.is_restricted === true || user.is_ultra_restricted === true)
      return { name: shown, kind: 'guest', isAdmin: false };
    return { name: shown, kind: 'member', isAdmin };
  } catch (error) {
    const trouble = troubleOf(error);
    if (trouble.kind === 'refused' && unknownCodes.has(trouble.code)) return unknown;
    throw error;
  }
}

const unknown: SlackProfile = { name: 'somebody', kind: 'gone', isAdmin: false };
const unknownCodes = new Set(['user_not_found', 'user_not_visible']);
